import BoundedQueue
import JobSettings

/// What an operation does with one source. The word is the ``BoundedOperation/kind`` of the operation, and begins its
/// title.
///
/// Other kinds of jobs have others.
struct SourceWork: RawRepresentable {
  let rawValue: String

  /// Makes its thumbnails.
  static let thumbnail = SourceWork(rawValue: "thumbnail")
  /// Reads what its thumbnails tell of it.
  static let describe = SourceWork(rawValue: "describe")
  /// Compares it with the hash that the ledger knows.
  static let verify = SourceWork(rawValue: "verify")
  /// Compares it with the contents that thumbnails were made of.
  static let recognize = SourceWork(rawValue: "recognize")
  /// Fetches it from the network.
  static let fetch = SourceWork(rawValue: "fetch")
  /// Reads its file ahead.
  static let read = SourceWork(rawValue: "read")
}

extension OperationSnapshot {
  /// The path of the source on which an operation of a job works, in printable form; nil if it works on all, for a
  /// ``JoinKind``.
  package var source: String? { kind.flatMap { JoinKind(rawValue: $0) == nil ? subject : nil } }
}
