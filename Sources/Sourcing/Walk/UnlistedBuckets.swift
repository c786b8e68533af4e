import Fetching
import Synchronization

/// Ends a walk that comes to a bucket.
package final class UnlistedBuckets: ObjectLister {
  private let asked = Atomic(false)

  package init() {}

  /// Whether a walk has come to a bucket.
  package var wereAsked: Bool { asked.load(ordering: .acquiring) }

  package func list(_: StoreLocation, page: String?, most: Int, isCancelled: () -> Bool) throws(FetchError)
    -> ObjectPage
  {
    asked.store(true, ordering: .releasing)
    throw .cancelled
  }
}
