import Files
import Foundation
import Places
import Sourcing
import Thumbnails

/// The gallery of a report: the thumbnails that runs have made, and the sources without, with the reasons.
package struct ReportGallery {
  private let folder: Path
  /// The absolute folder of the gallery, without links.
  private let start: Path
  /// The deepest folder with all sources.
  private let tree: Path
  private let outputs: [Path]
  /// The deepest folder with all outputs, absolute; nil for a gallery that shows the thumbnails where they are.
  private let copied: Path?

  /// Makes the folder, and checks that a page there may be replaced.
  ///
  /// - Parameters:
  ///   - isStandalone: whether it has copies of the thumbnails in its folder, and shows nothing that is outside.
  ///   - outputs: the output folders.
  ///   - tree: the deepest folder with all sources, absolute.
  /// - Throws: ``OutputError``.
  package init(_ folder: Path, isStandalone: Bool, outputs: [Path], tree: Path) throws(OutputError) {
    (self.folder, self.tree, self.outputs) = (folder, tree, outputs)
    let folders = outputs.map { $0.absolute ?? $0 }
    copied = isStandalone ? folders.dropFirst().reduce(folders[0]) { $0.commonFolder(with: $1) } : nil
    try GalleryPlan.check(folder)
    do throws(Errno) { start = try folder.real() } catch { throw OutputError(writing: folder, error) }
  }

  /// Writes the gallery.
  ///
  /// - Parameters:
  ///   - pictures: passes each source with its thumbnail, both with absolute paths. Thumbnails that are gone are left out.
  ///   - missing: passes each source without thumbnails, with its absolute path, and the reason. A standalone gallery does
  ///     not ask for them.
  /// - Returns: the number of pictures.
  /// - Throws: ``OutputError``.
  package func publish(
    pictures: ((_ source: Path, _ thumbnail: Path) throws -> Void) throws -> Void,
    missing: ((_ source: Path, _ reason: String) throws -> Void) throws -> Void
  ) throws -> Int {
    let originals = tree.leading(from: start)
    let files = GalleryFiles(
      folder: folder, title: (tree.lastName.isEmpty ? tree : tree.lastName).jsonText.text,
      sizes: [GallerySize(name: "thumbnails", folder: JSONPath(copied == nil ? "." : GalleryCopies.folder))],
      originals: copied == nil ? JSONPath(originals.isEmpty ? "." : originals) : nil)
    var copies = GalleryCopies(in: folder, outputs: outputs)
    let result = try files.publish(
      pictures: { file in
        var count = 0
        try pictures { source, thumbnail in
          let place = place(of: thumbnail)
          guard let picture = picture(of: source, thumbnail, place: place) else { return }
          if copied != nil { try copies.copy(thumbnail, to: place) }
          try append(picture, to: file, isFirst: count == 0)
          count += 1
        }
        return count
      },
      missing: { file in
        if copied != nil { return }
        var isFirst = true
        try missing { source, reason in
          try append(MissingPicture(source: JSONPath(relative(source)), reason: reason), to: file, isFirst: isFirst)
          isFirst = false
        }
      })
    try copies.removeOthers()
    return result.count
  }

  /// The path of a thumbnail from the folder of the only size.
  private func place(of thumbnail: Path) -> Path {
    guard let copied else { return thumbnail.leading(from: start) }
    return thumbnail.below(copied) ?? thumbnail.withoutRoot
  }

  private func append(_ entry: some Encodable, to file: JoinFile, isFirst: Bool) throws(OutputError) {
    try file.append(Array((isFirst ? "\n" : ",\n").utf8) + EntryList.json(entry))
  }

  private func relative(_ source: Path) -> Path { source.below(tree) ?? source }

  /// When a photo was taken; nil if it does not say, or is gone.
  private func taken(_ path: Path) -> CaptureDate? {
    let source = Source(path: path, relativePath: relative(path), argument: 0, origin: .folder)
    guard let file = try? SourceFile(path), case .image(let type)? = try? file.content(of: source) else { return nil }
    return file.facts(type).taken
  }

  /// Nil if the file is no thumbnail, or is gone.
  private func picture(of source: Path, _ path: Path, place: Path) -> GalleryPicture? {
    guard let file = try? SourceFile(path), let (isThumbnail, comment) = try? file.thumbnailComments(), isThumbnail,
      let pixels = comment?.pixels ?? file.type.flatMap({ try? file.shape($0).pixels })
    else { return nil }
    return GalleryPicture(
      source: JSONPath(relative(source)), taken: taken(source), pixels: comment?.source.pixels ?? pixels,
      placeholder: comment?.source.placeholder,
      thumbnails: [GalleryPicture.Thumbnail(pixels: pixels, path: JSONPath(place))])
  }
}
