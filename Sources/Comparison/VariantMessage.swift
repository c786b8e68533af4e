/// How far a variant is, as it says itself.
public struct VariantCounts: Sendable, Equatable {
  public var waiting = 0
  public var running = 0
  /// Sources whose thumbnail is made.
  public var done = 0
  public var failed = 0
  public var peakWaiting = 0
  public var peakRunning = 0

  public init() {}
}

/// What a variant's process tells the one that watches it: a line of text each.
enum VariantMessage: Equatable {
  case counts(VariantCounts)
  /// It was asked what it is doing, and named so many operations.
  case listed(Int)
  /// The bytes of memory it gives to its operations.
  case budget(Int)
  /// The most memory it held, in bytes, and how far it came.
  case ended(peakMemory: Int)
  /// It cannot begin.
  case problem(String)

  var line: String {
    switch self {
    case .counts(let counts):
      "counts \(counts.waiting) \(counts.running) \(counts.done) \(counts.failed) \(counts.peakWaiting) "
        + "\(counts.peakRunning)"
    case .listed(let operations): "listed \(operations)"
    case .budget(let bytes): "budget \(bytes)"
    case .ended(let peakMemory): "ended \(peakMemory)"
    case .problem(let text): "problem " + text.split(separator: "\n").joined(separator: " ")
    }
  }

  /// Nil for a line that is none, such as one cut off by a kill.
  init?(line: some StringProtocol) {
    let words = line.split(separator: " ", maxSplits: 1)
    guard words.count == 2 else { return nil }
    if words[0] == "problem" {
      self = .problem(String(words[1]))
      return
    }
    let numbers = words[1].split(separator: " ").compactMap { Int($0) }
    switch (words[0], numbers.count) {
    case ("counts", 6):
      var counts = VariantCounts()
      (counts.waiting, counts.running, counts.done) = (numbers[0], numbers[1], numbers[2])
      (counts.failed, counts.peakWaiting, counts.peakRunning) = (numbers[3], numbers[4], numbers[5])
      self = .counts(counts)
    case ("listed", 1): self = .listed(numbers[0])
    case ("budget", 1): self = .budget(numbers[0])
    case ("ended", 1): self = .ended(peakMemory: numbers[0])
    default: return nil
    }
  }
}
