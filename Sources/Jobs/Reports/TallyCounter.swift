/// A counter of a job, declared once: its key, its value, and what it counts.
///
/// The declarations are ``JobTally/counters``. The summary, its line of JSON, the status, its description and the metrics
/// are made from them.
package struct TallyCounter: Sendable {
  /// Where the number is told to programs.
  package struct Readers: OptionSet, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }

    /// The last line of `--json`.
    package static let summary = Readers(rawValue: 1)
    /// The status, its description, and the metrics.
    package static let status = Readers(rawValue: 2)
  }

  package enum Metric: Sendable, Equatable {
    /// A metric of its own, `thumbjob_NAME_total`.
    case total(String)
    /// A sample of the metric of all sources that have ended, with the key as its outcome.
    case outcome
  }

  /// The key in JSON.
  package let key: String
  /// In a dry run, the key in the summary; the key itself then has 0. Nil if a dry run makes no difference.
  package let dryRunKey: String?
  /// What it counts, as a sentence.
  package let meaning: String
  package let readers: Readers
  package let metric: Metric
  /// Whether it counts faults.
  package let isFault: Bool
  private let field: any KeyPath<JobTally, Int> & Sendable
  private let words: @Sendable (JobTally) -> String?

  /// - Parameters:
  ///   - metric: nil for a metric that has the key as its name.
  ///   - words: what the summary says of a number that is not 0; nil if it says nothing.
  init(
    _ key: String, inDryRun dryRunKey: String? = nil, _ field: any KeyPath<JobTally, Int> & Sendable, _ meaning: String,
    for readers: Readers = [.summary, .status], metric: Metric? = nil, isFault: Bool = false,
    words: @escaping @Sendable (JobTally) -> String? = { _ in nil }
  ) {
    (self.key, self.dryRunKey, self.field, self.meaning) = (key, dryRunKey, field, meaning)
    (self.readers, self.metric, self.isFault, self.words) = (readers, metric ?? .total(key), isFault, words)
  }

  package func value(in tally: JobTally) -> Int { tally[keyPath: field] }

  /// What the summary says; nil if it says nothing.
  package func text(of tally: JobTally) -> String? { value(in: tally) > 0 ? words(tally) : nil }
}

extension JobTally {
  /// The numbers for programs, by key.
  package func numbers(for reader: TallyCounter.Readers, isDryRun: Bool = false) -> [String: Int] {
    var numbers: [String: Int] = [:]
    for counter in Self.counters where counter.readers.contains(reader) {
      let value = counter.value(in: self)
      numbers[counter.key] = value
      guard reader == .summary, let dryRunKey = counter.dryRunKey else { continue }
      (numbers[counter.key], numbers[dryRunKey]) = isDryRun ? (0, value) : (value, 0)
    }
    return numbers
  }
}
