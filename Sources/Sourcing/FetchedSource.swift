import Fetching
import Files
import Foundation
import Marks

/// What a fetch has found.
package enum FetchedSource: Sendable {
  /// The server says that the source is the one of which the thumbnails were made.
  case unchanged
  case file(FetchedFile)
}

/// A source from the network, in a file without a name.
///
/// *Concurrency*: immutable.
package struct FetchedFile: Sendable {
  /// The host that was asked for it, or the bucket.
  package let host: String
  package let file: SpoolFile
  /// The bytes in the file, or of a source in parts. They are fewer than those of the source if its thumbnails need no more.
  package let size: Int
  /// The time of the last change, as the server tells it; that of the fetch if it tells none.
  package let modified: timespec
  /// Identifies the contents for the marks of thumbnails; nil if the server tells nothing that does.
  package let contents: SourceContents?
  /// What is in the file, if only parts of the source were fetched: its size is that of the source. Nil if there are no gaps.
  package let parts: RangeSet<Int>?
  /// Whether the rest of the source was not fetched, because its thumbnails do not need it.
  package let isCut: Bool
  /// Whether the file lacks the last bit of its picture on purpose.
  package let lacksLastBit: Bool

  package init(
    host: String, file: SpoolFile, size: Int, modified: timespec, contents: SourceContents?, parts: RangeSet<Int>?,
    isCut: Bool, lacksLastBit: Bool
  ) {
    (self.host, self.file, self.size, self.modified, self.contents, self.parts, self.isCut, self.lacksLastBit) = (
      host, file, size, modified, contents, parts, isCut, lacksLastBit
    )
  }
}

extension SourceContents {
  /// Identifies what a server has sent by what it tells of it; nil if it tells neither an entity tag nor a time.
  package init?(_ validators: Validators) {
    guard let text = validators.entityTag ?? validators.lastModified.map({ "\($0)" }) else { return nil }
    self.init(size: 0, ends: text.utf8)
  }
}
