/// Counts of a baseline's items at one moment. `submitted` always equals `waiting + running + done + failed`.
public struct BaselineCounters: Sendable, Hashable {
  /// Submitted items whose payload has been prepared or could not be prepared.
  public private(set) var submitted = 0
  /// Prepared payloads that wait to be processed.
  public private(set) var waiting = 0
  public private(set) var running = 0
  public private(set) var done = 0
  /// Items whose preparation or processing threw an error.
  public private(set) var failed = 0
  /// The most items that waited at once.
  public private(set) var peakWaiting = 0
  /// The most items that ran at once.
  public private(set) var peakRunning = 0

  public init() {}

  mutating func countSubmitted() {
    submitted += 1
    waiting += 1
    peakWaiting = max(peakWaiting, waiting)
  }

  /// Counts an item that is submitted and begins at once.
  mutating func countStarted() {
    submitted += 1
    running += 1
    peakRunning = max(peakRunning, running)
  }

  mutating func countNotPrepared() {
    submitted += 1
    failed += 1
  }

  mutating func countBegan() {
    waiting -= 1
    running += 1
    peakRunning = max(peakRunning, running)
  }

  mutating func countEnded(isSuccess: Bool) {
    running -= 1
    if isSuccess { done += 1 } else { failed += 1 }
  }
}
