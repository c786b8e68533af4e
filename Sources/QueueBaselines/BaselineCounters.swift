/// Counts of a baseline's items at one moment.
public struct BaselineCounters: Sendable, Hashable {
  /// Items that the producer has taken and handed on. Always `waiting + running + done + failed`, but for the item that
  /// the producer is at: that may run or be done before it is handed on.
  public private(set) var submitted = 0
  public private(set) var running = 0
  public private(set) var done = 0
  /// Items whose preparation or processing threw an error.
  public private(set) var failed = 0
  /// The most items that waited at once.
  public private(set) var peakWaiting = 0
  /// The most items that ran at once.
  public private(set) var peakRunning = 0
  /// Items that the producer has taken: those handed on, and the one that it is at.
  private var taken = 0
  /// Items with which something has begun.
  private var begun = 0
  /// Payloads that wait for the second step.
  private var prepared = 0

  public init() {}

  /// The items that wait: those handed on with which nothing has begun, and those that are prepared and not yet
  /// processed.
  public var waiting: Int { max(0, submitted - begun) + prepared }

  /// The producer asks for the next item.
  ///
  /// - Parameter isOver: whether it gets none.
  mutating func countHandedOn(isOver: Bool) {
    submitted = taken
    if !isOver { taken += 1 }
    peakWaiting = max(peakWaiting, waiting)
  }

  mutating func countBegan() {
    begun += 1
    countRuns()
  }

  mutating func countPrepared() {
    running -= 1
    prepared += 1
    peakWaiting = max(peakWaiting, waiting)
  }

  mutating func countResumed() {
    prepared -= 1
    countRuns()
  }

  mutating func countEnded(isSuccess: Bool) {
    running -= 1
    if isSuccess { done += 1 } else { failed += 1 }
  }

  private mutating func countRuns() {
    running += 1
    peakRunning = max(peakRunning, running)
  }
}
