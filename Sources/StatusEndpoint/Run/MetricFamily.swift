/// A metric that the endpoint does not know: its samples with their labels, read at the request.
public struct MetricFamily: Sendable {
  public enum Kind: String, Sendable {
    /// Only grows.
    case counter
    case gauge
  }

  public struct Sample: Sendable {
    /// Names and values, in this order.
    public var labels: [(name: String, value: String)]
    public var value: Int

    public init(_ value: Int, labels: [(name: String, value: String)] = []) {
      (self.value, self.labels) = (value, labels)
    }
  }

  /// As in Prometheus's text format: `thumbjob_…`, and `_total` at the end of a counter.
  public var name: String
  public var kind: Kind
  /// A sentence.
  public var help: String
  public var samples: [Sample]

  public init(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample]) {
    (self.name, self.kind, self.help, self.samples) = (name, kind, help, samples)
  }
}
