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
  /// The folder of each size's thumbnails, as in the paths of thumbnails.
  let sizeFolders: [Path]
  /// The folder of each size's copies, from that of all copies; nil for a gallery that shows the thumbnails themselves.
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
    let places = outputs.flatMap { output in output.options.sizes.map { (output.folder(of: $0), $0.name) } }
    sizeFolders = places.map(\.0)
    self.outputs = outputs.map(\.path)
    if isStandalone {
      let copyFolders = Self.unique(places.map(\.1))
      sizes = zip(places, copyFolders).map { place, folder in
        GallerySize(name: place.1, folder: JSONPath(GalleryCopies.folder.appending(folder)))
      }
      (self.copyFolders, originals) = (copyFolders, nil)
    } else {
      sizes = places.map { GallerySize(name: $1, folder: leading($0)) }
      (copyFolders, originals) = (nil, tree.map(leading))
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
