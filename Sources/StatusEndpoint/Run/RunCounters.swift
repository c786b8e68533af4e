/// Counts of a run: its sources, operations and thumbnails.
public struct RunCounters: Codable, Sendable, Equatable {
  /// Sources found so far.
  public var found: Int
  /// All sources; nil until the number is known.
  public var total: Int?
  /// Sources whose thumbnails were made.
  public var made = 0
  public var upToDate = 0
  /// Files that are not images, are of an unsupported type, or are duplicates.
  public var passedOver = 0
  public var failed = 0
  public var cancelled = 0
  /// Operations that memory pressure cancelled and that were submitted again.
  public var requeued = 0
  /// Operations that wait for a place or for other operations.
  public var waiting = 0
  /// Those of them that wait for other operations.
  public var waitingForDependencies = 0
  /// Operations that hold a place.
  public var running = 0
  /// Running operations that wait for memory.
  public var waitingForMemory = 0
  /// Operations that were cancelled because one that they depend on did not succeed.
  public var cancelledForDependencies = 0
  /// The most operations that ran, and that waited, at once.
  public var peakRunning = 0
  public var peakWaiting = 0
  /// Thumbnails written, and their size in bytes.
  public var thumbnails = 0
  public var bytesWritten = 0
  /// Bytes of the sources whose thumbnails were made.
  public var bytesRead = 0

  enum CodingKeys: String, CodingKey {
    case found, total, made, failed, cancelled, requeued, waiting, running, thumbnails
    case upToDate = "up_to_date"
    case passedOver = "passed_over"
    case waitingForDependencies = "waiting_for_dependencies"
    case waitingForMemory = "waiting_for_memory"
    case cancelledForDependencies = "cancelled_for_dependencies"
    case peakRunning = "peak_running"
    case peakWaiting = "peak_waiting"
    case bytesWritten = "bytes_written"
    case bytesRead = "bytes_read"
  }

  /// All other counts are zero until they are set.
  public init(found: Int, total: Int? = nil) { (self.found, self.total) = (found, total) }

  /// Sources that are done, with any outcome.
  public var ended: Int { done + cancelled }

  /// The sources of which nothing remains to be done.
  public var done: Int { made + upToDate + passedOver + failed }

  /// Whether all counts are in a plausible range, so that a wrong answer from another program cannot overflow a sum.
  var arePlausible: Bool {
    [
      found, total ?? 0, made, upToDate, passedOver, failed, cancelled, waiting, waitingForDependencies, running,
      cancelledForDependencies,
    ].allSatisfy { (0...1 << 48).contains($0) }
  }
}
