import Foundation
import Synchronization

/// Limits how long writes wait for a reader that does not read. At first they wait forever; once the process is to end,
/// they wait only for a limited time, because otherwise such a reader could keep the process from ending.
///
/// *Concurrency*: every member may be called from any thread and takes no lock.
final class WriteDeadline: Sendable {
  private let duration: Duration
  /// The deadline in nanoseconds of the system's uptime; `max` before ``begin()``.
  private let end = Atomic(UInt64.max)

  init(_ duration: Duration) { self.duration = duration }

  /// Starts the limited time. Further calls do nothing.
  func begin() {
    let (now, seconds) = (DispatchTime.now().uptimeNanoseconds, duration / .seconds(1))
    _ = end.compareExchange(
      expected: .max, desired: now + UInt64(seconds * 1e9), ordering: .acquiringAndReleasing)
  }

  var isOver: Bool { DispatchTime.now().uptimeNanoseconds >= end.load(ordering: .acquiring) }
}
