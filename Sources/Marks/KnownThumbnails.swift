import Files
import Foundation

/// What the thumbnails of a source from the network tell of it, if all of them are there and were made with the present
/// settings.
package struct KnownThumbnails: Sendable, Equatable {
  /// The modification time of the source when they were made.
  package let modified: timespec
  /// The contents of the source when they were made.
  package let contents: SourceContents

  package init(modified: timespec, contents: SourceContents) {
    (self.modified, self.contents) = (modified, contents)
  }

  package static func == (left: KnownThumbnails, right: KnownThumbnails) -> Bool {
    isSameTime(left.modified, right.modified) && left.contents == right.contents
  }
}
