import Files
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
  public let version = 3
  public let thumbjobVersion: String
  public let command: [String]
  public let startedAt: Date
  public let machine: Machine
  public let sources: Sources
  /// The number of operations that the bounded variant runs at once.
  public let max: Int
  /// The variants in the order of the first round; the bounded one is among them.
  public let variants: [Variant]
  /// The options for the thumbnails, as words of a command line.
  public let options: [String]
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
      boundedTo =
        summary(of: .bounded).map { bounded in
          summaries.filter { $0.variant != .bounded }.compactMap { BoundRatio(bounded, to: $0) }
        } ?? []
    }
  }
  /// What follows from `runs` for each variant.
  public private(set) var summaries: [VariantSummary] = []
  /// The bounded variant's times divided by those of each other one with which they can be compared.
  public private(set) var boundedTo: [BoundRatio] = []
  /// The runs that were told to stop, in their order.
  public var stopRuns: [VariantMeasurement] = []
  /// One run of each variant for each of several sizes, the first size first.
  public var sizeRuns: [VariantMeasurement] = []

  public init(
    thumbjobVersion: String, command: [String], machine: Machine, sources: Sources, max: Int,
    variants: [Variant], options: [String], memoryLimit: Limit?
  ) {
    self.thumbjobVersion = thumbjobVersion
    self.command = command
    startedAt = Date()
    (self.machine, self.sources, self.max) = (machine, sources, max)
    (self.variants, self.options, self.memoryLimit) = (variants, options, memoryLimit)
  }

  /// Whether the bounded variant made every thumbnail in every round.
  public var isBoundedComplete: Bool {
    let runs = runs.filter { $0.variant == .bounded }
    return !runs.isEmpty && runs.allSatisfy { $0.ending == .finished && $0.thumbnails == sources.count }
  }

  /// Which variants were killed or crashed, and which finished in every round, in sentences.
  public var headline: String {
    let early = summaries.filter { $0.finishedRounds < $0.runs.count }
    if early.isEmpty {
      let waited = summaries.map { "\($0.variant.rawValue) \($0.most(\.peakWaiting))" }.joined(separator: ", ")
      return "None was killed. The most sources that waited at once: \(waited)."
    }
    let under = memoryLimit.map { "Under \(ByteCount.whole($0.bytes)), " } ?? ""
    let ends = early.map { "\($0.variant.rawValue) \($0.headlined)" }.joined(separator: ", ")
    let whole = summaries.filter { $0.finishedRounds == $0.runs.count }.map(\.variant.rawValue)
    let others = "\(whole.isEmpty ? "None" : whole.joined(separator: ", ")) finished in every round."
    return "\(under)\(ends). \(others)"
  }

  /// Whether the bounded queue is slower than the fastest of the others, in sentences.
  public var answer: String {
    guard let bounded = summary(of: .bounded) else { return "" }
    let others = summaries.filter { $0.variant != .bounded }
    let finished = others.filter { $0.seconds != nil }
    let fastest = finished.min { ($0.seconds?.median ?? 0) < ($1.seconds?.median ?? 0) }
    guard let fastest = fastest ?? others.first else { return "" }
    return BoundRatio.answer(bounded, fastest)
  }

  /// The sizes of ``sizeRuns``, in their order.
  var sizes: [String] { sizeRuns.reduce(into: []) { if let size = $1.size, !$0.contains(size) { $0.append(size) } } }

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
