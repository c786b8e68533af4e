import Files

/// The results of a split.
public struct SplitReport: Sendable {
  public let walk: WalkCounters
  public let parts: Int
  /// Sources in the lists.
  public internal(set) var sources = 0
  /// Their bytes.
  public internal(set) var bytes = 0
  /// Of the sources, those whose cost was estimated from their bytes alone.
  public internal(set) var withoutPixels = 0
  /// Files that are no images, and thumbnails that thumbjob has made: they are in no list.
  public internal(set) var notImages = 0
  public internal(set) var ownThumbnails = 0
  /// Files that are given more than once. They are in one list.
  public internal(set) var duplicates = 0
  /// Lists without a source.
  public let empty: Int
  /// The estimated cost of the cheapest and of the most expensive list, and of all, in seconds of one processor.
  public let lowestCost: Double
  public let highestCost: Double
  public let cost: Double
  public let elapsed: Duration
  /// The peak of the resident memory of the process, in bytes.
  public let peakMemory: Int

  /// By how much the most expensive list costs more than the cheapest, as a share; nil if that one costs nothing.
  public var spread: Double? { lowestCost > 0 ? highestCost / lowestCost - 1 : nil }
}
