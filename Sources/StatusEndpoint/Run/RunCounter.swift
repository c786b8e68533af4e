/// A counter of a run, which the endpoint shows without knowing it: its key in JSON, what it counts, and its metric.
public struct RunCounter: Sendable {
  public enum Metric: Sendable {
    /// A metric of its own, `thumbjob_NAME_total`.
    case total(String)
    /// A sample of `thumbjob_sources_total`, with the key as its outcome.
    case outcome
  }

  public let key: String
  /// What it counts, as a sentence: the description of the key, and the help of the metric.
  public let meaning: String
  /// Nil if a ``MetricFamily`` of the run has it.
  public let metric: Metric?

  public init(_ key: String, _ meaning: String, metric: Metric?) {
    (self.key, self.meaning, self.metric) = (key, meaning, metric)
  }
}
