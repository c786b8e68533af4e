import Files
import SystemPackage

/// Removes the thumbnails of sources that are gone.
///
/// Nothing is remembered about the sources: the path of a thumbnail tells that of its source. So only thumbnails that
/// mirror a tree can be found.
struct GoneThumbnails {
  private struct Output {
    let output: ThumbnailOutput
    let remover: ThumbnailRemover
  }

  private let outputs: [Output]
  private let onRemoval: (Path, Result<Int, OutputError>) -> Void

  /// - Parameter onRemoval: receives each removed thumbnail and its bytes, or why it could not be removed.
  /// - Throws: ``OutputError``.
  init(
    in outputs: [ThumbnailOutput], onRemoval: @escaping (Path, Result<Int, OutputError>) -> Void
  ) throws(OutputError) {
    var opened: [Output] = []
    for output in outputs { opened.append(Output(output: output, remover: try ThumbnailRemover(output.path))) }
    (self.outputs, self.onRemoval) = (opened, onRemoval)
  }

  /// Removes the thumbnails of a source in a place.
  func remove(_ place: Path, of source: Path) {
    for output in outputs {
      for folder in output.output.sizeFolders { remove(folder.appending(place), of: source, in: output) }
    }
  }

  /// Removes all thumbnails below the folder that mirrors this source folder.
  func removeTree(_ mirrored: Path, of folder: Path) { sweep(mirrored, of: folder) { _, _ in true } }

  /// Removes the thumbnails below the folder that mirrors this source folder, if their sources are gone. The thumbnails of
  /// earlier runs with other sizes stay.
  ///
  /// - Parameter isGone: tells it from the place of a thumbnail in the folder of its size, and from the path of its
  ///   source, which may lack an ending.
  func sweep(_ mirrored: Path, of source: Path, isGone: (Path, Path) -> Bool) {
    for output in outputs {
      for folder in output.output.sizeFolders {
        let foreign = output.output.foreignFolders
        forEachFile(below: mirrored, in: output.output.path.appending(folder)) { place in
          let whole = folder.appending(place)
          let source = source.appending(place.below(mirrored) ?? place)
          if !foreign.contains(where: { whole.below($0) != nil }), isGone(place, source) {
            remove(whole, of: source, in: output)
          }
        }
      }
    }
  }

  /// Visits the files below a folder. A folder may go while it is read.
  private func forEachFile(below folder: Path, in top: Path, _ visit: (Path) -> Void) {
    guard case .success(let open) = OpenFolder.open(top.appending(folder), relativePath: folder) else { return }
    var stack = [open]
    while let open = stack.last {
      guard case .success(let entry?) = open.next() else {
        stack.removeLast()
        continue
      }
      let place = open.relativePath.appending(entry.name)
      var kind = entry.kind
      if kind == nil { kind = try? open.status(of: entry.name, followingLinks: false).get().kind }
      if kind == .regular { visit(place) }
      if kind == .folder, entry.name != SourceWalker.workingFolderName, stack.count < SourceWalker.maximumDepth + 2,
        case .success(let inner) = open.openFolder(entry.name, followingLinks: false)
      {
        stack.append(inner)
      }
    }
  }

  private func remove(_ place: Path, of source: Path, in output: Output) {
    let path = output.output.path.appending(place)
    do throws(OutputError) {
      if case .removed(let bytes) = try output.remover.remove(place, of: source) { onRemoval(path, .success(bytes)) }
    } catch {
      onRemoval(path, .failure(error))
    }
  }
}
