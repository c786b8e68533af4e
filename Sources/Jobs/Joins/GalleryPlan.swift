import Files
import Gallery
import Places

/// The facts about a gallery that are known before the run: its folder, its title, and the folders of thumbnails and
/// originals.
struct GalleryPlan: Sendable {
  let folder: Path
  let title: String
  let sizes: [GallerySize]
  /// The folder of the sources; nil if it is not known, or not shown.
  let originals: JSONPath?
  /// The folder of the thumbnails of each size and format, as in the paths of thumbnails.
  let sizeFolders: [Path]
  /// The folder of their copies, from that of all copies; nil for a gallery that shows the thumbnails themselves.
  let copyFolders: [Path]?
  /// The output folders.
  let outputs: [Path]

  /// Makes the folder, and checks that a page there may be replaced.
  ///
  /// - Parameters:
  ///   - title: nil for the name of that folder.
  ///   - isStandalone: whether it shows only what is in its folder.
  ///   - tree: the folder whose tree the thumbnails mirror.
  /// - Throws: ``OutputError``.
  init(
    _ folder: Path, title: String? = nil, isStandalone: Bool, outputs: [ThumbnailOutput], tree: Path?
  ) throws(OutputError) {
    self.folder = folder
    try Self.check(folder)
    let start: Path
    do throws(Errno) { start = try folder.real() } catch { throw OutputError(writing: folder, error) }
    func leading(_ path: Path) -> JSONPath {
      let leading = path.leading(from: start)
      return JSONPath(leading.isEmpty ? "." : leading)
    }
    let slots = outputs.renditions
    let hasSeveralTypes = Set(slots.map(\.rendition.format)).count > 1
    sizeFolders = slots.map { $0.output.folder(of: $0.rendition.size) }
    self.outputs = outputs.map(\.path)
    let folders: [JSONPath]
    if isStandalone {
      let bySize = Self.unique(outputs.flatMap { $0.options.sizes.map(\.name) })
      let copyFolders = slots.map { bySize[$0.size] }
      folders = copyFolders.map { JSONPath(GalleryCopies.folder.appending($0)) }
      (self.copyFolders, originals) = (copyFolders, nil)
    } else {
      folders = sizeFolders.map(leading)
      (copyFolders, originals) = (nil, tree.map(leading))
    }
    sizes = zip(slots, folders).map { slot, folder in
      GallerySize(
        name: slot.rendition.size.name, folder: folder,
        type: hasSeveralTypes ? slot.rendition.format.mediaType : nil)
    }
    self.title = title ?? (tree ?? Path.workingFolder ?? folder).lastName.jsonText.text
  }

  /// A folder for each size. Several outputs may have sizes of one name.
  private static func unique(_ names: [String]) -> [Path] {
    var folders: [Path] = []
    for name in names {
      var (folder, number) = (Path(name), 1)
      while folders.contains(folder) {
        number += 1
        folder = Path("\(name)-\(number)")
      }
      folders.append(folder)
    }
    return folders
  }

  /// Refuses a folder with a page of other origin, or with a file that the gallery would replace. A page of thumbjob shows
  /// that the other files are its own. Without one, they may be those of a run that was killed.
  static func check(_ folder: Path) throws(OutputError) {
    let index = folder.appending(Path(GalleryPage.index))
    _ = try JoinFile(index, kind: .gallery)
    let hasPage = FileIdentity(of: index) != nil
    for (name, contents) in GalleryPage.files + [(GalleryPage.data, [])] where name != GalleryPage.index {
      let path = folder.appending(Path(name))
      if try JoinFile(path, kind: nil).isOther(than: contents), !hasPage { throw OutputError(.notJoin(.gallery), path) }
    }
  }
}
