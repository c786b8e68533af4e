import Files
import Gallery
import Places
import SystemPackage

/// The facts about a gallery that are known before the run: its folder, its title, and the folders of thumbnails and
/// originals.
struct GalleryPlan: Sendable {
  let folder: Path
  let title: JSONPath
  let sizes: [GallerySize]
  /// The folder of the sources; nil if it is not known.
  let originals: JSONPath?
  /// The folder of each size's thumbnails, as in the paths of thumbnails.
  let sizeFolders: [Path]

  /// Makes the folder, and checks that a page there may be replaced.
  ///
  /// - Parameter tree: the folder whose tree the thumbnails mirror.
  /// - Throws: ``OutputError``.
  init(_ folder: Path, outputs: [ThumbnailOutput], tree: Path?) throws(OutputError) {
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
    sizes = places.map { GallerySize(name: $1, folder: leading($0)) }
    originals = tree.map(leading)
    title = JSONPath((tree ?? Path.workingFolder ?? folder).lastName)
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
