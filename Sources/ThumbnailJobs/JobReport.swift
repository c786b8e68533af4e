import BoundedQueue
import Foundation

/// A finished job: what was done, and the proof that it kept within its bounds.
public struct JobReport: Sendable {
  public let tally: JobTally
  public let walk: WalkCounters
  public let counters: QueueCounters
  public let limits: QueueLimits
  /// From the first look at a source to the last thumbnail in place.
  public let elapsed: Duration
  /// The most memory the process held, in bytes.
  public let peakMemory: Int
  /// Why it ended early; nil when it did not.
  public let stopCause: StopCause?
  /// Whether every source was come to.
  public let isWalkComplete: Bool

  /// True when it was stopped before everything was done.
  public var workRemains: Bool { stopCause != nil && (!isWalkComplete || tally.cancelled > 0) }

  public var thumbnailsPerSecond: Double { Double(tally.thumbnails) / seconds }
  /// Of sources read.
  public var bytesPerSecond: Double { Double(tally.bytesRead) / seconds }

  private var seconds: Double { max(elapsed / .seconds(1), 0.001) }

  /// The most memory that this process has held, in bytes (getrusage(2); Linux counts in KiB, others in bytes).
  static func peakMemory() -> Int {
    var usage = rusage()
    #if canImport(Glibc)
      getrusage(RUSAGE_SELF.rawValue, &usage)
      return usage.ru_maxrss * 1024
    #else
      getrusage(RUSAGE_SELF, &usage)
      return usage.ru_maxrss
    #endif
  }
}
