import BoundedQueue
import Files
import Foundation
import JobSettings
import MemoryPressure
import PictureMaking
import Places
import Sourcing

/// The results of a finished job, and measurements that show whether it kept its limits.
package struct JobReport: Sendable {
  /// What the results are called.
  package let words: ResultWords
  package let tally: JobTally
  package let walk: WalkCounters
  package let counters: QueueCounters
  /// The highest limits that the queue had.
  package let limits: QueueLimits
  /// The time from the start of the walk until all operations have ended.
  package let elapsed: Duration
  /// The most resident memory of the process and of its decoder processes at one moment, in bytes.
  package let peakMemory: Int
  package let memory: MemoryPlan
  /// Bytes held above the baseline for each reserved byte, at the worst moment; nil if reservations were never large
  /// enough to compare.
  package internal(set) var worstMemoryRatio: Double?
  /// The pressure signals that were in use at the end.
  package internal(set) var pressureSource: PressureSignalChoice
  /// Why the job ended early; nil if it did not.
  package let stopCause: StopCause?
  /// Whether the walk has reached every source.
  package let isWalkComplete: Bool
  /// The patterns of the filter that matched nothing in a complete walk.
  package let unmatchedPatterns: (includes: [Glob], excludes: [Glob])
  /// The thumbnails of earlier runs in each output that a user may not expect.
  package let earlier: [EarlierRuns]
  /// The absolute folder whose tree the thumbnails mirror; nil with a list, whose entries are not known in advance.
  package let tree: Path?
  /// Thumbnails with other settings that the job has replaced.
  package let replaced: Int
  /// Thumbnails of other sources, which exist, that the job has replaced because it was forced to.
  package let replacedOthers: Int
  /// What was fetched from the network; nil if the job had no such sources.
  package internal(set) var fetches: FetchCounters?
  /// What was read ahead of the operations; nil if nothing was.
  package internal(set) var reads: ReadCounters?

  /// What became of the manifest, the contact sheet and the gallery, of those that were asked for.
  package internal(set) var joins: [JoinReport] = []
  /// The sources that the walk had not found when the job stopped; nil if it is not known how many there are.
  package let notReached: Int?

  /// How many sources had thumbnails under another path, which were moved.
  package internal(set) var moved = 0
  /// The thumbnails of photos that are gone; nil if there are none, or if it is not known.
  package var gone: GoneResults?
  /// What was removed after the run, or would be; nil if nothing was to be.
  package var pruned: PruneCounts?
  /// Why nothing was removed, or nothing of some source folders, although it was asked for.
  package var pruneRefusals: [PruneRefusal] = []

  /// Whether the job ended before all its sources and joins were done.
  package var workRemains: Bool {
    if case .outputFailed = stopCause { return true }
    return !isWalkComplete || tally.cancelled > 0 || joins.contains(where: \.isLeft)
  }

  package var thumbnailsPerSecond: Double { Double(tally.thumbnails) / seconds }
  /// Bytes of sources read.
  package var bytesPerSecond: Double { Double(tally.bytesRead) / seconds }

  private var seconds: Double { max(elapsed / .seconds(1), 0.001) }
}
