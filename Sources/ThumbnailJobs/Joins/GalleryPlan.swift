import Files
import Gallery

/// What a gallery says of a whole job: where it is, and where its thumbnails are, seen from it.
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
    _ = try JoinFile(folder.appending(Path(GalleryPage.index)), kind: .gallery)
    _ = try JoinFile(folder.appending(Path(GalleryPage.data)), kind: nil)
    guard let start = folder.real else { throw OutputError(.removed, folder) }
    let places = outputs.flatMap { output in output.options.sizes.map { (output.folder(of: $0), $0.name) } }
    sizeFolders = places.map(\.0)
    sizes = places.map { place, name in
      let leading = place.leading(from: start)
      return GallerySize(name: name, folder: JSONPath(leading.isEmpty ? "." : leading))
    }
    originals = tree.map { JSONPath($0.leading(from: start)) }
    title = JSONPath((tree ?? Path.workingFolder ?? folder).lastName)
  }
}
