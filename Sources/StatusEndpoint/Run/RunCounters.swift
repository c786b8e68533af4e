/// Counts of a run by their keys: those that the run declares as ``RunCounter``s, and those of its queue.
public struct RunCounters: Codable, Sendable, Equatable {
  /// The keys that the endpoint or its client knows.
  private enum Key: String, CaseIterable {
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

  private var values: [String: Int]

  /// - Parameters:
  ///   - values: the counts by key. Those that the endpoint knows and that are not among them are 0.
  ///   - total: the number of all sources; nil until it is known.
  public init(_ values: [String: Int] = [:], total: Int? = nil) {
    self.values = values
    for key in Key.allCases where key != .total { self[key] = self[key] }
    self.total = total
  }

  public init(from decoder: any Decoder) throws {
    values = try [String: Int](from: decoder)
    if let missing = Key.allCases.first(where: { $0 != .total && values[$0.rawValue] == nil }) {
      throw DecodingError.valueNotFound(
        Int.self, .init(codingPath: decoder.codingPath, debugDescription: "no count \(missing.rawValue)"))
    }
  }

  public func encode(to encoder: any Encoder) throws { try values.encode(to: encoder) }

  /// The count with a key; 0 if there is none.
  public subscript(key: String) -> Int { values[key] ?? 0 }

  private subscript(key: Key) -> Int {
    get { self[key.rawValue] }
    set { values[key.rawValue] = newValue }
  }

  // MARK: Counts of sources

  public var found: Int {
    get { self[.found] }
    set { self[.found] = newValue }
  }
  /// All sources; nil until the number is known.
  public var total: Int? {
    get { values[Key.total.rawValue] }
    set { values[Key.total.rawValue] = newValue }
  }
  public var made: Int {
    get { self[.made] }
    set { self[.made] = newValue }
  }
  public var upToDate: Int {
    get { self[.upToDate] }
    set { self[.upToDate] = newValue }
  }
  /// Sources that can have no thumbnails of their own.
  public var passedOver: Int {
    get { self[.passedOver] }
    set { self[.passedOver] = newValue }
  }
  public var failed: Int {
    get { self[.failed] }
    set { self[.failed] = newValue }
  }
  public var cancelled: Int {
    get { self[.cancelled] }
    set { self[.cancelled] = newValue }
  }
  public var thumbnails: Int {
    get { self[.thumbnails] }
    set { self[.thumbnails] = newValue }
  }
  /// The bytes of the thumbnails.
  public var bytesWritten: Int {
    get { self[.bytesWritten] }
    set { self[.bytesWritten] = newValue }
  }
  /// The bytes of the sources that were made.
  public var bytesRead: Int {
    get { self[.bytesRead] }
    set { self[.bytesRead] = newValue }
  }

  // MARK: Counts of operations

  /// Operations that memory pressure cancelled and that were submitted again.
  public var requeued: Int {
    get { self[.requeued] }
    set { self[.requeued] = newValue }
  }
  /// Operations that wait for a place or for other operations.
  public var waiting: Int {
    get { self[.waiting] }
    set { self[.waiting] = newValue }
  }
  /// Those of them that wait for other operations.
  public var waitingForDependencies: Int {
    get { self[.waitingForDependencies] }
    set { self[.waitingForDependencies] = newValue }
  }
  /// Operations that hold a place.
  public var running: Int {
    get { self[.running] }
    set { self[.running] = newValue }
  }
  /// Running operations that wait for memory.
  public var waitingForMemory: Int {
    get { self[.waitingForMemory] }
    set { self[.waitingForMemory] = newValue }
  }
  /// Operations that were cancelled because one that they depend on did not succeed.
  public var cancelledForDependencies: Int {
    get { self[.cancelledForDependencies] }
    set { self[.cancelledForDependencies] = newValue }
  }
  /// The most operations that ran at once.
  public var peakRunning: Int {
    get { self[.peakRunning] }
    set { self[.peakRunning] = newValue }
  }
  /// The most operations that waited at once.
  public var peakWaiting: Int {
    get { self[.peakWaiting] }
    set { self[.peakWaiting] = newValue }
  }

  /// Sources that are done, with any outcome.
  public var ended: Int { done + cancelled }

  /// The sources of which nothing remains to be done.
  public var done: Int { made + upToDate + passedOver + failed }

  /// Whether all counts are in a plausible range, so that a wrong answer from another program cannot overflow a sum.
  var arePlausible: Bool { values.values.allSatisfy { (0...1 << 56).contains($0) } }
}
