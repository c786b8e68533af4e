import BoundedQueue
import Locking

/// Counts the bytes of previews that are made and not yet read by their clients. Above a limit, the queue pauses.
///
/// *Concurrency*: from any thread. The lock guards the count, and is held while the queue pauses or resumes, so that the last
/// change decides.
package final class UnreadPreviews: Sendable {
  private let limit: Int
  private let queue: BoundedOperationQueue
  private let count = Locked(0)

  /// - Parameter limit: in bytes. Operations that run end even above it, so the count may exceed it by their previews.
  init(limit: Int, _ queue: BoundedOperationQueue) { (self.limit, self.queue) = (limit, queue) }

  package var bytes: Int { count.withLock { $0 } }

  /// A client is about to read `bytes`. Each call needs one of ``remove(_:)`` with the same number.
  package func add(_ bytes: Int) {
    count.withLock { count in
      count += bytes
      if count > limit, count - bytes <= limit { queue.pause(.output) }
    }
  }

  /// A client has read `bytes`, or has left.
  package func remove(_ bytes: Int) {
    count.withLock { count in
      count -= bytes
      if count <= limit, count + bytes > limit { queue.resume(.output) }
    }
  }
}
