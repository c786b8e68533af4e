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

/// A source without a thumbnail, and why.
public struct VariantFailure: Encodable, Sendable, Equatable {
  /// Its path as one would print it.
  public let source: String
  public let error: String
}

/// What a variant's process tells the one that watches it: a line of text each.
enum VariantMessage: Equatable {
  case counts(VariantCounts)
  /// It was asked what it is doing, and named so many operations.
  case listed(Int)
  /// How many operations may wait, and the bytes of memory that those which run may hold.
  case bounds(backlog: Int, budget: Int)
  /// A source has failed.
  case failure(VariantFailure)
  /// The most memory it held, in bytes, and how far it came.
  case ended(peakMemory: Int)
  /// Why it gave up.
  case problem(String)

  var line: String {
    switch self {
    case .counts(let counts):
      "counts \(counts.waiting) \(counts.running) \(counts.done) \(counts.failed) \(counts.peakWaiting) "
        + "\(counts.peakRunning)"
    case .listed(let operations): "listed \(operations)"
    case .bounds(let backlog, let budget): "bounds \(backlog) \(budget)"
    case .failure(let failure): "failure " + [failure.source, failure.error].map(Self.flat).joined(separator: "\t")
    case .ended(let peakMemory): "ended \(peakMemory)"
    case .problem(let text): "problem " + Self.flat(text)
    }
  }

  /// Without what parts lines and their fields.
  private static func flat(_ text: String) -> String {
    text.split { $0.isNewline || $0 == "\t" }.joined(separator: " ")
  }

  /// Nil for a line that is none, such as one cut off by a kill.
  init?(line: some StringProtocol) {
    let words = line.split(separator: " ", maxSplits: 1)
    guard words.count == 2 else { return nil }
    if words[0] == "problem" {
      self = .problem(String(words[1]))
      return
    }
    if words[0] == "failure" {
      let fields = words[1].split(separator: "\t")
      guard fields.count == 2 else { return nil }
      self = .failure(VariantFailure(source: String(fields[0]), error: String(fields[1])))
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
    case ("bounds", 2): self = .bounds(backlog: numbers[0], budget: numbers[1])
    case ("ended", 1): self = .ended(peakMemory: numbers[0])
    default: return nil
    }
  }
}
