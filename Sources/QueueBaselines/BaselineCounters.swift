/// The numbers of a baseline at one moment. At every moment `submitted == waiting + running + done + failed`.
public struct BaselineCounters: Sendable, Hashable {
  /// Items taken in whose payload is ready, or could not be made ready.
  public private(set) var submitted = 0
  /// Payloads held that nothing has been done with yet.
  public private(set) var waiting = 0
  public private(set) var running = 0
  public private(set) var done = 0
  /// Items that could not be made ready, or whose work has thrown.
  public private(set) var failed = 0
  /// The most that waited, and that ran, at once.
  public private(set) var peakWaiting = 0
  public private(set) var peakRunning = 0

  public init() {}

  mutating func countSubmitted() {
    submitted += 1
    waiting += 1
    peakWaiting = max(peakWaiting, waiting)
  }

  /// Taken in and begun in one.
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
