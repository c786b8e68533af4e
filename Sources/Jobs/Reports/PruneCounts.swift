import Files
import Places

/// How many thumbnails a job has removed, or would remove.
package struct PruneCounts: Sendable, Equatable {
  package internal(set) var thumbnails = 0
  /// Their bytes together.
  package internal(set) var bytes = 0
  /// Sources that are missing where a file system may not be mounted. Their thumbnails stay.
  package internal(set) var outOfReach = 0
  /// How many could not be removed.
  package internal(set) var failed = 0

  package init() {}

  mutating func count(_ result: Result<Int, OutputError>) {
    switch result {
    case .success(let size): (thumbnails, bytes) = (thumbnails + 1, bytes.saturating(plus: size))
    case .failure: failed += 1
    }
  }
}
