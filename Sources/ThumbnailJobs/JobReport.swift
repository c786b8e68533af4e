import BoundedQueue
import Files
import Foundation
import MemoryPressure

/// A finished job: what was done, and the proof that it kept within its bounds.
public struct JobReport: Sendable {
  public let tally: JobTally
  public let walk: WalkCounters
  public let counters: QueueCounters
  /// The widest that they were.
  public let limits: QueueLimits
  /// From the first look at a source to the last thumbnail in place.
  public let elapsed: Duration
  /// The most memory the process held, in bytes.
  public let peakMemory: Int
  public let memory: MemoryPlan
  /// Bytes held over the baseline for each byte reserved, at the worst moment; nil when too little was ever reserved to
  /// tell.
  public let worstMemoryRatio: Double?
  /// Where memory pressure was heard of in the end.
  public let pressureSource: PressureSignalChoice
  /// Why it ended early; nil when it did not.
  public let stopCause: StopCause?
  /// Whether every source was come to.
  public let isWalkComplete: Bool

  /// True when it ended before everything was done.
  public var workRemains: Bool { !isWalkComplete || tally.cancelled > 0 }

  public var thumbnailsPerSecond: Double { Double(tally.thumbnails) / seconds }
  /// Of sources read.
  public var bytesPerSecond: Double { Double(tally.bytesRead) / seconds }

  private var seconds: Double { max(elapsed / .seconds(1), 0.001) }

  /// The most memory that this process has held, in bytes; 0 where the system does not tell.
  static func peakMemory() -> Int {
    #if canImport(Glibc)
      // Not getrusage(2): on Linux its figure survives exec, so that it may be that of whoever started this.
      return ProcessStatus()?.peakResident ?? 0
    #else
      var usage = rusage()
      getrusage(RUSAGE_SELF, &usage)
      return usage.ru_maxrss
    #endif
  }
}
