import Foundation
import Synchronization

/// How long whoever writes still waits for somebody who does not read: for ever, until it is told that the job is stopping.
/// A job that waited for the reader of its last words could not be ended.
///
/// *Concurrency*: from any thread, without a lock.
final class Patience: Sendable {
  private let duration: Duration
  /// Nanoseconds of the system's uptime.
  private let end = Atomic(UInt64.max)

  init(_ duration: Duration) { self.duration = duration }

  /// From here on it is counted. A second time changes nothing.
  func begin() {
    let (now, seconds) = (DispatchTime.now().uptimeNanoseconds, duration / .seconds(1))
    _ = end.compareExchange(
      expected: .max, desired: now + UInt64(seconds * 1e9), ordering: .acquiringAndReleasing)
  }

  var isOver: Bool { DispatchTime.now().uptimeNanoseconds >= end.load(ordering: .acquiring) }
}
