import Dispatch
import Histogram

/// Nanoseconds of a clock that only goes forward.
public func nanoseconds() -> UInt64 { DispatchTime.now().uptimeNanoseconds }

/// How long something took, many times over.
public struct Latencies: Sendable {
  /// Of two digits: with three, the counters of a dozen threads would fill the processor's cache that is measured.
  private var histogram = Histogram<UInt64>(
    highestTrackableValue: 600_000_000_000, numberOfSignificantValueDigits: .two)

  public init() {}

  public var count: Int { Int(histogram.totalCount) }

  public mutating func record(nanoseconds: UInt64) { histogram.record(min(nanoseconds, 600_000_000_000)) }

  public mutating func record(since start: UInt64) { record(nanoseconds: nanoseconds() - start) }

  public mutating func add(_ other: Latencies) { histogram.add(other.histogram) }

  public var percentiles: Percentiles {
    Percentiles(
      p50: histogram.valueAtPercentile(50), p90: histogram.valueAtPercentile(90),
      p99: histogram.valueAtPercentile(99), p999: histogram.valueAtPercentile(99.9), max: histogram.max)
  }
}

/// Percentiles in nanoseconds.
public struct Percentiles: Codable, Sendable {
  public let p50, p90, p99, p999, max: UInt64

  /// Of several rounds: the median of each.
  public init(medianOf rounds: [Percentiles]) {
    p50 = median(rounds.map(\.p50))
    p90 = median(rounds.map(\.p90))
    p99 = median(rounds.map(\.p99))
    p999 = median(rounds.map(\.p999))
    max = median(rounds.map(\.max))
  }

  init(p50: UInt64, p90: UInt64, p99: UInt64, p999: UInt64, max: UInt64) {
    (self.p50, self.p90, self.p99, self.p999, self.max) = (p50, p90, p99, p999, max)
  }

  /// As cells of a table.
  public var cells: [String] { [p50, p90, p99, p999, max].map { durationText(nanoseconds: Double($0)) } }
  public static let headings = ["p50", "p90", "p99", "p99.9", "max"]
}

/// The middle one; of an even number the lower of the two in the middle.
public func median<Value: Comparable>(_ values: [Value]) -> Value {
  precondition(!values.isEmpty, "the median of nothing")
  return values.sorted()[(values.count - 1) / 2]
}
