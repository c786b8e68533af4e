import BoundedQueue
import Files
import Foundation
import MemoryPressure

/// The results of a finished job, and measurements that show whether it kept its limits.
public struct JobReport: Sendable {
  public let tally: JobTally
  public let walk: WalkCounters
  public let counters: QueueCounters
  /// The highest limits that the queue had.
  public let limits: QueueLimits
  /// The time from the start of the walk until all operations have ended.
  public let elapsed: Duration
  /// The peak of the resident memory of the process and of its decoder processes, in bytes.
  public let peakMemory: Int
  public let memory: MemoryPlan
  /// Bytes held above the baseline for each reserved byte, at the worst moment; nil if reservations were never large
  /// enough to compare.
  public let worstMemoryRatio: Double?
  /// The pressure signals that were in use at the end.
  public let pressureSource: PressureSignalChoice
  /// Why the job ended early; nil if it did not.
  public let stopCause: StopCause?
  /// Whether the walk has reached every source.
  public let isWalkComplete: Bool
  /// The patterns of the filter that matched nothing in a complete walk.
  public let unmatchedPatterns: (includes: [Glob], excludes: [Glob])
  /// The thumbnails of earlier runs in each output that a user may not expect.
  public let earlier: [EarlierRuns]
  /// The absolute folder whose tree the thumbnails mirror; nil with a list, whose entries are not known in advance.
  public let tree: Path?
  /// Thumbnails with other settings that the job has replaced.
  public let replaced: Int
  /// Thumbnails of other sources, which exist, that the job has replaced because it was forced to.
  public let replacedOthers: Int
  /// What was fetched from the network; nil if the job had no such sources.
  public let fetches: FetchCounters?

  /// What became of the manifest, the contact sheet and the gallery, of those that were asked for.
  public let joins: [JoinReport]
  /// The sources that the walk had not found when the job stopped; nil if it is not known how many there are.
  public let notReached: Int?

  /// What was removed after the run, or would be; nil if nothing was to be.
  public var pruned: PruneCounts?
  /// Why nothing was removed, or nothing of some source folders, although it was asked for.
  public var pruneRefusals: [PruneRefusal] = []

  /// Whether the job ended before all its sources and joins were done.
  public var workRemains: Bool {
    if case .outputFailed = stopCause { return true }
    return !isWalkComplete || tally.cancelled > 0 || joins.contains(where: \.isLeft)
  }

  public var thumbnailsPerSecond: Double { Double(tally.thumbnails) / seconds }
  /// Bytes of sources read.
  public var bytesPerSecond: Double { Double(tally.bytesRead) / seconds }

  private var seconds: Double { max(elapsed / .seconds(1), 0.001) }

  /// The peak of the resident memory of this process, in bytes; 0 if the system does not report it.
  static func peakMemory() -> Int {
    #if canImport(Glibc)
      // Not getrusage(2): on Linux its value survives exec and may be that of the parent process.
      return ProcessStatus()?.peakResident ?? 0
    #else
      var usage = rusage()
      getrusage(RUSAGE_SELF, &usage)
      return usage.ru_maxrss
    #endif
  }
}
