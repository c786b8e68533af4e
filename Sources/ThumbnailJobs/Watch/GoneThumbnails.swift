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

  /// Removes the thumbnails below the folder that mirrors this source folder, if their sources are gone. The thumbnails of
  /// earlier runs with other sizes stay.
  ///
  /// - Parameter isGone: tells it from the place of a thumbnail in the folder of its size, and from the path of its
  ///   source, which may lack an ending.
  func sweep(_ mirrored: Path, of source: Path, isGone: (Path, Path) -> Bool) {
    for output in outputs {
      for folder in output.output.sizeFolders {
        ThumbnailWalk.forEachFile(
          below: folder.appending(mirrored), in: output.output.path, except: output.output.foreignFolders
        ) { whole in
          guard let place = whole.below(folder) else { return }
          let source = source.appending(place.below(mirrored) ?? place)
          if isGone(place, source) { remove(whole, of: source, in: output) }
        }
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
