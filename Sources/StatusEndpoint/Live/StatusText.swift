import Locking
import NIOCore

/// The status of a run as JSON, made anew when somebody asks and the last is older than a moment: however many ask however
/// often, the run is looked at fifty times a second at the most.
///
/// *Concurrency*: the lock guards the text. It is made outside, by the endpoint's one thread.
final class StatusText: Sendable {
  private let dataSource: any RunDataSource
  private let listed: Int
  private let text = Locked<(bytes: ByteBuffer, madeAt: ContinuousClock.Instant)?>(nil)

  /// How old an answer may be.
  static let lifetime = Duration.milliseconds(20)

  /// - Parameter listed: how many operations are listed of those that run, and of those that wait.
  init(_ dataSource: any RunDataSource, listed: Int) { (self.dataSource, self.listed) = (dataSource, listed) }

  var bytes: ByteBuffer {
    if let text = text.withLock({ $0 }), text.madeAt.duration(to: .now) < Self.lifetime { return text.bytes }
    let now = ContinuousClock.now  // before looking, so that the age is not understated
    let bytes = JSONText.encode(dataSource.status(listing: listed))
    text.withLock { $0 = (bytes, now) }
    return bytes
  }

  /// The next who asks sees what has just been changed.
  func forget() { text.withLock { $0 = nil } }
}
