import Files
import Foundation

/// What the thumbnails of a source from the network tell of it, if all of them are there and were made with the present
/// settings.
struct KnownThumbnails: Sendable, Equatable {
  /// The modification time of the source when they were made.
  let modified: timespec
  /// The contents of the source when they were made.
  let contents: SourceContents

  static func == (left: KnownThumbnails, right: KnownThumbnails) -> Bool {
    isSameTime(left.modified, right.modified) && left.contents == right.contents
  }
}
