/// What a run has done so far, and what is under way.
public struct RunCounters: Codable, Sendable, Equatable {
  /// Sources found so far.
  public var found: Int
  /// Sources in all, once that is known.
  public var total: Int?
  /// Sources whose thumbnails were made.
  public var made = 0
  public var upToDate = 0
  /// Files that are no images, or of a type not read, or the same file again.
  public var passedOver = 0
  public var failed = 0
  public var cancelled = 0
  /// Cancellations by memory pressure after which a source was done again.
  public var requeued = 0
  /// Operations that wait for a place.
  public var waiting = 0
  /// Operations that hold a place.
  public var running = 0
  /// Of those running: waiting for memory.
  public var waitingForMemory = 0
  /// The most that ran, and that waited, at once.
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
    case waitingForMemory = "waiting_for_memory"
    case peakRunning = "peak_running"
    case peakWaiting = "peak_waiting"
    case bytesWritten = "bytes_written"
    case bytesRead = "bytes_read"
  }

  /// All zero but what has been found; set the rest.
  public init(found: Int, total: Int? = nil) { (self.found, self.total) = (found, total) }

  /// Sources that have ended, however they did.
  public var ended: Int { made + upToDate + passedOver + failed + cancelled }

  /// Whether these can be counts of anything: what a stranger at an address claims must not end the program that asked.
  var arePlausible: Bool {
    [found, total ?? 0, made, upToDate, passedOver, failed, cancelled, waiting, running].allSatisfy {
      (0...1 << 48).contains($0)
    }
  }
}
