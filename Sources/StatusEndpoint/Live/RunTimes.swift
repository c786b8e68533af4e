import Locking

/// How long operations waited and ran, for `GET /metrics`.
public struct RunTimes: Sendable {
  /// Time spent waiting for one of the `max` places.
  public let waitingForPlace = DurationHistogram()
  /// Time spent waiting for memory while running.
  public let waitingForMemory = DurationHistogram()
  /// Time spent running, including waits for memory.
  public let working = DurationHistogram()

  public init() {}
}

/// A histogram of durations with fixed bounds.
///
/// *Concurrency*: the lock guards the counts. Recording is a search among 12 bounds and two additions under it.
public final class DurationHistogram: Sendable {
  struct Counts: Sendable {
    /// The number of durations up to each bound and above the one before; the last bucket is above all bounds.
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
