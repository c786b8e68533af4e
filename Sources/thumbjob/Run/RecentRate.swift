import Foundation
import Locking

/// How fast a run has been lately: over the last half minute in which it was looked at, leaving out times in which it could
/// not be, because its process was stopped.
///
/// *Concurrency*: the lock guards the samples; from any thread.
final class RecentRate: Sendable {
  private struct Sample {
    let ended, made: Int
    /// Seconds since the run began.
    let at: Double
  }

  private let samples = Locked<[Sample]>([])
  private static let window = 30.0
  /// Between two samples. The endpoint looks each second; a longer gap is time in which the process stood still.
  private static let (shortest, longest) = (0.9, 4.0)

  /// Sources ended, and made, per second; over the whole run while there is too little to tell.
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
