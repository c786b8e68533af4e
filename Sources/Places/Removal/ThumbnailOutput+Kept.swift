import Files
import Foundation
import Marks
import Sourcing
import Thumbnails

// Thumbnails that are kept because they are of the contents of a source: with another time, or in another place.
extension ThumbnailOutput {
  /// The place of a source's thumbnails, from ``OutputPlan``, by that of its first thumbnail; nil if that is in the folder of no
  /// size of this output, or of another source.
  package func place(ofFirst thumbnail: Path, of source: Path) -> Path? {
    thumbnail.below(sizeFolders[0]).flatMap { place in
      OutputPlan.claims(to: place).first { $0.lastName == source.lastName }
    }
  }

  /// A hash of what each thumbnail of a source looks like; nil where there is none.
  ///
  /// - Parameter place: the place of its thumbnails, from ``OutputPlan``.
  package func looks(of source: Source, _ place: Path) -> [UInt64?] {
    options.renditions.map { rendition in folder?.looks(of: self.place(of: source, place, rendition)) }
  }

  /// Gives the thumbnails of a source another time, and marks that name it.
  ///
  /// - Parameters:
  ///   - contents: the contents of the source.
  ///   - files: those in the places of its thumbnails, from ``files(of:_:)``, which are of these contents.
  /// - Returns: the states of the files; nil if one has changed since, or if that fails.
  package func renewThumbnails(
    of source: Source, _ place: Path, _ contents: SourceContents, files: [stat?], modified: timespec
  ) -> [FileState]? {
    forEachRendition(of: source, contents) { folder, index, mark in
      let file = self.place(of: source, place, options.renditions[index])
      return files[index].flatMap { folder.renew(file, mark, $0, modified: modified) }
    }
  }

  /// Copies the thumbnails of another source, which is gone, to the places of this one.
  ///
  /// - Parameters:
  ///   - gone: the absolute path of the other source.
  ///   - former: the place of its thumbnails, from ``OutputPlan``.
  ///   - contents: the contents of both.
  ///   - modified: the time for the copies.
  /// - Returns: the states of the copies; nil if a thumbnail is of other contents or with other settings, if a place has a file,
  ///   or if that fails.
  package func copyThumbnails(
    of gone: Path, _ former: Path, to source: Source, _ place: Path, _ contents: SourceContents, modified: timespec
  ) -> [FileState]? {
    forEachRendition(of: source, contents) { folder, index, mark in
      let file = self.place(of: source, former, options.renditions[index])
      guard
        let status = try? file.withCString({ FileStatus.of($0, in: folder.descriptor, followingLinks: false) }).get(),
        status.kind == .regular, ThumbnailMark(of: file, in: folder.descriptor) == mark.of(key(ofFile: gone))
      else { return nil }
      let place = self.place(of: source, place, options.renditions[index])
      return folder.copy(file, status, to: place, mark, modified: modified)
    }
  }

  /// Removes the thumbnails of a source that is gone.
  ///
  /// - Returns: whether none of them is left.
  package func removeThumbnails(of gone: Path, _ former: Path) -> Bool {
    guard let remover = try? ThumbnailRemover(path) else { return false }
    return options.renditions.allSatisfy { rendition in
      switch try? remover.remove(mirroredPlace(former, rendition), of: gone) {
      case .removed, .notThere: true
      case .notOurs, nil: false
      }
    }
  }

  /// - Parameter keep: receives the index of the rendition, and the mark of its thumbnail.
  private func forEachRendition(
    of source: Source, _ contents: SourceContents, keep: (OutputFolder, Int, ThumbnailMark) -> FileState?
  ) -> [FileState]? {
    guard let folder else { return nil }
    var states: [FileState] = []
    for index in options.renditions.indices {
      guard let state = keep(folder, index, stamps[index].mark.of(contents, key(of: source))) else { return nil }
      states.append(state)
    }
    return states
  }
}
