import BoundedQueue

/// What an operation does with one source. The word is the ``BoundedOperation/kind`` of the operation, and begins its
/// title.
enum SourceWork: String {
  /// Makes its thumbnails.
  case thumbnail
  /// Computes its checksum.
  case checksum
  /// Reads what its thumbnails tell of it.
  case describe
  /// Compares it with the hash that the ledger knows.
  case verify
  /// Fetches it from the network.
  case fetch
}

extension OperationSnapshot {
  /// The path of the source on which an operation of a job works, in printable form; nil if it works on none.
  package var source: String? { kind.flatMap(SourceWork.init(rawValue:)) != nil ? subject : nil }
}
