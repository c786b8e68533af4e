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

  mutating func tookIn() {
    submitted += 1
    waiting += 1
    peakWaiting = max(peakWaiting, waiting)
  }

  /// Taken in and begun in one.
  mutating func tookUp() {
    submitted += 1
    running += 1
    peakRunning = max(peakRunning, running)
  }

  mutating func refused() {
    submitted += 1
    failed += 1
  }

  mutating func began() {
    waiting -= 1
    running += 1
    peakRunning = max(peakRunning, running)
  }

  mutating func ended(well: Bool) {
    running -= 1
    if well { done += 1 } else { failed += 1 }
  }
}
