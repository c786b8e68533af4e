import Fetching
import Synchronization

/// Ends a walk that comes to a bucket.
final class UnlistedBuckets: ObjectLister {
  private let asked = Atomic(false)

  /// Whether a walk has come to a bucket.
  var wereAsked: Bool { asked.load(ordering: .acquiring) }

  func list(_: S3Location, page: String?, most: Int, isCancelled: () -> Bool) throws(FetchError) -> ObjectPage {
    asked.store(true, ordering: .releasing)
    throw .cancelled
  }
}
