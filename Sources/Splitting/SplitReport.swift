import Files
import Sourcing

/// The results of a split.
package struct SplitReport: Sendable {
  package let walk: WalkCounters
  package let parts: Int
  /// Sources in the lists.
  package internal(set) var sources = 0
  /// Their bytes.
  package internal(set) var bytes = 0
  /// Of the sources, those whose cost was estimated from their bytes alone.
  package internal(set) var withoutPixels = 0
  /// Files that are no images, and thumbnails that thumbjob has made: they are in no list.
  package internal(set) var notImages = 0
  package internal(set) var ownThumbnails = 0
  /// Files that are given more than once. They are in one list.
  package internal(set) var duplicates = 0
  /// Lists without a source.
  package let empty: Int
  /// The estimated cost of the cheapest and of the most expensive list, and of all, in seconds of one processor.
  package let lowestCost: Double
  package let highestCost: Double
  package let cost: Double
  package let elapsed: Duration
  /// The peak of the resident memory of the process, in bytes.
  package let peakMemory: Int

  /// By how much the most expensive list costs more than the cheapest, as a share; nil if that one costs nothing.
  package var spread: Double? { lowestCost > 0 ? highestCost / lowestCost - 1 : nil }
}
