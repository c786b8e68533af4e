import Foundation

/// A comparison: its conditions and its measurements. `compare.json` is its JSON form.
public struct ComparisonReport: Encodable, Sendable {
  public struct Machine: Encodable, Sendable {
    /// The number of processors that the process may use.
    public let processors: Int
    public let processorModel: String?
    public let memoryBytes: Int
    public let system: String

    public init(processors: Int) {
      self.processors = processors
      processorModel = Self.model
      memoryBytes = Int(ProcessInfo.processInfo.physicalMemory)
      var name = utsname()
      uname(&name)
      system = [Self.text(name.sysname), Self.text(name.release), Self.text(name.machine)].joined(separator: " ")
    }

    /// *Source*: proc_cpuinfo(5).
    private static var model: String? {
      let text = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
      let line = text.split(separator: "\n").first { $0.hasPrefix("model name") }
      return line?.split(separator: ":", maxSplits: 1).last.map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// A name from `uname`: characters that end with a NUL.
    private static func text(_ characters: some Any) -> String {
      withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
  }

  public struct Sources: Encodable, Sendable {
    public let arguments: [String]
    public let count: Int
    public let bytes: Int
    /// Every source was read once before the first run.
    public let isPageCacheWarmed = true

    public init(arguments: [String], count: Int, bytes: Int) {
      (self.arguments, self.count, self.bytes) = (arguments, count, bytes)
    }
  }

  public struct Limit: Encodable, Sendable {
    public let bytes: Int
    public let kind: MemoryCage.Kind

    public init(bytes: Int, kind: MemoryCage.Kind) { (self.bytes, self.kind) = (bytes, kind) }
  }

  /// The version of the JSON format.
  public let version = 2
  public let thumbjobVersion: String
  public let command: [String]
  public let startedAt: Date
  public let machine: Machine
  public let sources: Sources
  /// The number of operations that the bounded variant runs at once.
  public let max: Int
  public let naivePayload: NaivePayload
  /// The limit of each process; nil for none.
  public let memoryLimit: Limit?
  public let sampleIntervalSeconds = VariantReporter.interval / .seconds(1)
  /// The number of rounds.
  public private(set) var rounds = 0
  /// The runs of all rounds, in the order in which they ran.
  public var runs: [VariantMeasurement] = [] {
    didSet {
      rounds = runs.compactMap(\.round).max() ?? 0
      summaries = VariantSummary.all(of: runs)
      boundedToNaive = summary(of: .bounded).flatMap { bounded in
        summary(of: .naive).flatMap { BoundRatio(bounded, to: $0) }
      }
    }
  }
  /// What follows from `runs` for each variant.
  public private(set) var summaries: [VariantSummary] = []
  /// The bounded variant's times divided by those of naive GCD; nil if they cannot be compared.
  public private(set) var boundedToNaive: BoundRatio?
  /// The runs that were told to stop, in their order.
  public var stopRuns: [VariantMeasurement] = []

  public init(
    thumbjobVersion: String, command: [String], machine: Machine, sources: Sources, max: Int,
    naivePayload: NaivePayload, memoryLimit: Limit?
  ) {
    self.thumbjobVersion = thumbjobVersion
    self.command = command
    startedAt = Date()
    (self.machine, self.sources, self.max) = (machine, sources, max)
    (self.naivePayload, self.memoryLimit) = (naivePayload, memoryLimit)
  }

  /// Whether the bounded variant made every thumbnail in every round.
  public var isBoundedComplete: Bool {
    let runs = runs.filter { $0.variant == .bounded }
    return !runs.isEmpty && runs.allSatisfy { $0.ending == .finished && $0.thumbnails == sources.count }
  }

  /// Whether the bounded queue is slower than naive GCD, in sentences.
  public var answer: String {
    guard let bounded = summary(of: .bounded), let naive = summary(of: .naive) else { return "" }
    return BoundRatio.answer(bounded, naive)
  }

  func summary(of variant: Variant) -> VariantSummary? { summaries.first { $0.variant == variant } }

  public var json: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.dateEncodingStrategy = .iso8601
    guard let data = try? encoder.encode(self) else { preconditionFailure("a report has only plain values") }
    return String(decoding: data, as: UTF8.self) + "\n"
  }
}
