import Locking

/// How long operations have waited and worked, counted for `GET /metrics`.
public struct RunTimes: Sendable {
  /// Waiting for one of the `max` places.
  public let waitingForPlace = DurationHistogram()
  /// Running, and waiting for memory.
  public let waitingForMemory = DurationHistogram()
  /// Running, the waiting for memory included.
  public let working = DurationHistogram()

  public init() {}
}

/// How many durations were no longer than each of a few bounds.
///
/// *Concurrency*: the lock guards the counts. Recording is a search among 12 bounds and two additions under it.
public final class DurationHistogram: Sendable {
  struct Counts: Sendable {
    /// How many fell between each bound and the one before; the last are above all bounds.
    var buckets = [Int](repeating: 0, count: DurationHistogram.bounds.count + 1)
    var sum = 0.0
  }

  /// Seconds.
  static let bounds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60]

  private let state = Locked(Counts())

  public init() {}

  public func record(_ duration: Duration) {
    let seconds = duration / .seconds(1)
    let bucket = Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count
    state.withLock { counts in
      counts.buckets[bucket] += 1
      counts.sum += seconds
    }
  }

  var counts: Counts { state.withLock { $0 } }
}
