#if Endpoint
import Locking
import NIOCore

/// The status of a run as JSON, cached for 20 ms: however many clients ask, the run is inspected at most fifty times a
/// second.
///
/// *Concurrency*: the lock guards the text. The endpoint's thread creates it outside the lock.
final class StatusText: Sendable {
  private let dataSource: any RunDataSource
  private let listed: Int
  private let text = Locked<(bytes: ByteBuffer, madeAt: ContinuousClock.Instant)?>(nil)

  /// The greatest age of an answer.
  static let lifetime = Duration.milliseconds(20)

  /// - Parameter listed: the most running, and the most waiting, operations to list.
  init(_ dataSource: any RunDataSource, listed: Int) { (self.dataSource, self.listed) = (dataSource, listed) }

  var bytes: ByteBuffer {
    if let text = text.withLock({ $0 }), text.madeAt.duration(to: .now) < Self.lifetime { return text.bytes }
    let now = ContinuousClock.now  // taken first, so that the age is not understated
    let bytes = ByteBuffer(bytes: JSONText.encode(dataSource.status(listing: listed)))
    text.withLock { $0 = (bytes, now) }
    return bytes
  }

  /// Drops the cached text, so that the next request sees a change that was just made.
  func forget() { text.withLock { $0 = nil } }
}
#endif
