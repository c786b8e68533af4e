import Foundation

/// The times of the bounded variant divided by those of another one. They answer whether the bounded queue is slower.
///
/// Only rounds that ran to their end count.
public struct BoundRatio: Encodable, Sendable, Equatable {
  public struct Quantity: Encodable, Sendable, Equatable {
    /// The bounded variant's median divided by the other's.
    public let ratio: Double
    /// Whether the ranges from the shortest to the longest time have no value in common. Nil if one variant has fewer
    /// than two times, and therefore no range.
    public let isBeyondSpread: Bool?

    init?(_ bounded: Spread?, _ other: Spread?, hasRanges: Bool) {
      guard let bounded, let other, other.median > 0 else { return nil }
      ratio = bounded.median / other.median
      isBeyondSpread = hasRanges ? !bounded.overlaps(other) : nil
    }

    /// Such as `no difference beyond the spread, 1.02× that of gcd-file`.
    fileprivate func text(_ other: String) -> String {
      let figure = String(format: "%.2f", ratio) + "× that of \(other)"
      switch isBeyondSpread {
      case nil: return figure
      case false?: return "no difference beyond the spread, \(figure)"
      case true?: return (ratio > 1 ? "yes, slower, " : "no, faster, ") + figure
      }
    }
  }

  /// The other variant.
  public let variant: Variant
  public let seconds: Quantity
  public let processorSeconds: Quantity

  /// Nil if the times cannot be compared; see ``answer(_:_:)``.
  init?(_ bounded: VariantSummary, to other: VariantSummary) {
    let hasRanges = bounded.finishedRounds > 1 && other.finishedRounds > 1
    guard bounded.hasSameWork(as: other),
      let seconds = Quantity(bounded.seconds, other.seconds, hasRanges: hasRanges),
      let processorSeconds = Quantity(bounded.processorSeconds, other.processorSeconds, hasRanges: hasRanges)
    else { return nil }
    (variant, self.seconds, self.processorSeconds) = (other.variant, seconds, processorSeconds)
  }

  /// The shortest round that tells something, in seconds.
  private static let shortest = 1.0

  /// Whether the bounded variant is slower than another, in sentences.
  static func answer(_ bounded: VariantSummary, _ other: VariantSummary) -> String {
    let name = other.variant.rawValue
    let question = "Is the bounded queue slower than \(name)?"
    for summary in [bounded, other] where summary.finishedRounds == 0 {
      return "\(question) There is no time to compare, because \(summary.variant.rawValue) never ran to its end."
    }
    guard bounded.hasSameWork(as: other) else {
      return "\(question) The times cannot be compared, because the two did not make the same number of thumbnails."
    }
    guard let ratio = BoundRatio(bounded, to: other) else { return "\(question) The times are too short to compare." }
    var sentences = [
      question, "By time: \(ratio.seconds.text(name)).", "By processor time: \(ratio.processorSeconds.text(name)).",
    ]
    let counts = [bounded, other].map { "\($0.finishedRounds) of \($0.variant.rawValue)" }
    if bounded.finishedRounds < bounded.runs.count || other.finishedRounds < other.runs.count {
      sentences.append("Only rounds that ran to their end count: \(counts.joined(separator: ", ")).")
    }
    if ratio.seconds.isBeyondSpread == nil {
      sentences.append("One round shows no spread, so the difference may be chance.")
    }
    if let seconds = [bounded, other].compactMap({ $0.seconds?.median }).min(), seconds < shortest {
      sentences.append("But a round of less than a second is mostly the start of a process; take more photos.")
    }
    return sentences.joined(separator: " ")
  }
}

extension VariantSummary {
  /// Whether the finished rounds of both made the same number of thumbnails.
  fileprivate func hasSameWork(as other: VariantSummary) -> Bool {
    let finished = (runs + other.runs).filter { $0.ending == .finished }
    return finished.allSatisfy { $0.thumbnails == finished[0].thumbnails }
  }
}
