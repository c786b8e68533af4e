import Foundation
import Locking

/// Measures the speed of a run over the last half minute. Times in which the process was stopped are left out.
///
/// *Concurrency*: a lock guards the samples; the method may be called from any thread.
final class RecentRate: Sendable {
  private struct Sample {
    let ended, made: Int
    /// In seconds since the run began.
    let at: Double
  }

  private let samples = Locked<[Sample]>([])
  private static let window = 30.0
  /// The bounds of the time between two samples in seconds. The endpoint asks every second; after a longer gap the process
  /// was stopped.
  private static let (shortest, longest) = (0.9, 4.0)

  /// Sources ended and made per second. While there are too few samples, the rates are those of the whole run.
  func rate(ended: Int, made: Int, at elapsed: Duration) -> (ended: Double, made: Double) {
    let now = Sample(ended: ended, made: made, at: max(elapsed / .seconds(1), 0.001))
    let first = samples.withLock { samples in
      if let last = samples.last, now.at - last.at > Self.longest { samples.removeAll() }
      if samples.last.map({ now.at - $0.at >= Self.shortest }) ?? true { samples.append(now) }
      samples.removeAll { now.at - $0.at > Self.window }
      return samples.first
    }
    guard let first, now.at - first.at >= 2 * Self.shortest else {
      return (Double(ended) / now.at, Double(made) / now.at)
    }
    let span = now.at - first.at
    return (Double(ended - first.ended) / span, Double(made - first.made) / span)
  }
}
