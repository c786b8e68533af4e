import Files
import Marks

/// A source that may have the contents of which thumbnails were made.
struct RecognizedSource: Sendable, Equatable {
  /// Where the thumbnails are.
  enum Thumbnails: Sendable, Equatable {
    /// In the places of the source, which had another time: files with this state together.
    case own(FileState)
    /// In the places of a source that is gone. If it was not one of this job, they also stay there.
    case ofGone(Path, at: Path, isOfJob: Bool)
  }

  let thumbnails: Thumbnails
  /// The hash of those contents.
  let hash: UInt64
}
