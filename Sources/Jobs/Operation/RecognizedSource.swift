import Files
import Ledger
import Marks

/// A source that may have known contents.
struct RecognizedSource: Sendable, Equatable {
  /// What came of these contents.
  enum Results: Sendable, Equatable {
    /// Thumbnails in the places of the source, which had another time: files with this state together.
    case own(FileState)
    /// Thumbnails in the places of a source that is gone. If it was not one of this job, they also stay there.
    case ofGone(Path, at: Path, isOfJob: Bool)
    /// A failure for good, as the ledger has it.
    case failure(LedgerEntry)
  }

  let results: Results
  /// The hash of those contents.
  let hash: UInt64
  /// A hash of what their thumbnails look like; nil for a failure.
  var looks: UInt64?
}
