import Sourcing

/// Of which sources a hash of all bytes is computed when their thumbnails are made.
enum SourceHashing {
  case never
  /// Of those that are read whole for their thumbnails, or nearly. So hashing costs next to nothing, and of a RAW file with a
  /// preview no more is read than that.
  case ifRead
  case always

  /// How many bytes are read for the hash alone.
  private static let mostRead = 1 << 20

  /// - Parameter isRead: whether another process has read all of the file.
  func includes(_ file: SourceFile, isRead: Bool) -> Bool {
    // A hash of a part of a source says nothing of it.
    if file.isInParts { return false }
    switch self {
    case .never: return false
    case .ifRead: return isRead || file.unhashedCount <= Self.mostRead
    case .always: return true
    }
  }
}
