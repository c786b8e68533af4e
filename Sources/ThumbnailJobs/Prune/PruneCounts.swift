import Files

/// How many thumbnails a job has removed, or would remove.
public struct PruneCounts: Sendable, Equatable {
  public internal(set) var thumbnails = 0
  /// Their bytes together.
  public internal(set) var bytes = 0
  /// Sources that are missing where a file system may not be mounted. Their thumbnails stay.
  public internal(set) var outOfReach = 0
  /// How many could not be removed.
  public internal(set) var failed = 0

  public init() {}

  mutating func count(_ result: Result<Int, OutputError>) {
    switch result {
    case .success(let size): (thumbnails, bytes) = (thumbnails + 1, bytes.saturating(plus: size))
    case .failure: failed += 1
    }
  }
}
