import Files

/// One variant over all rounds.
public struct VariantSummary: Encodable, Sendable {
  public let variant: Variant
  /// The number of rounds in which it processed all sources.
  public let finishedRounds: Int
  /// The number of the round that the charts show: the one with the median time. If rounds ended early, it is one of
  /// these, so that such an end stays visible.
  public let shownRound: Int
  /// The times of the finished rounds; nil without any.
  public let seconds: Spread?
  /// The processor times of the finished rounds; nil without any.
  public let processorSeconds: Spread?
  /// Its runs in the order of the rounds; at least one.
  let runs: [VariantMeasurement]

  private enum CodingKeys: CodingKey { case variant, finishedRounds, shownRound, seconds, processorSeconds }

  /// A summary for each variant that has run.
  static func all(of runs: [VariantMeasurement]) -> [VariantSummary] {
    Variant.allCases.compactMap { variant in
      VariantSummary(variant, runs.filter { $0.variant == variant && $0.round != nil })
    }
  }

  private init?(_ variant: Variant, _ runs: [VariantMeasurement]) {
    let finished = runs.filter { $0.ending == .finished }
    let early = runs.filter { $0.ending != .finished }
    let candidates = (early.isEmpty ? finished : early).sorted { $0.seconds < $1.seconds }
    guard !candidates.isEmpty else { return nil }
    (self.variant, self.runs) = (variant, runs)
    finishedRounds = finished.count
    shownRound = candidates[(candidates.count - 1) / 2].round ?? 1
    seconds = Spread(finished.map(\.seconds))
    processorSeconds = Spread(finished.map(\.processorSeconds))
  }

  /// The run that the charts show.
  var shown: VariantMeasurement { runs.first { $0.round == shownRound } ?? runs[0] }

  /// The highest value in any round.
  func most(_ value: KeyPath<VariantMeasurement, Int>) -> Int { runs.map { $0[keyPath: value] }.max() ?? 0 }

  /// The number of thumbnails: `2000`, or `28–35` if it was not the same in all rounds.
  var thumbnails: String { text(runs.map(\.thumbnails)) }

  /// How the rounds ended that did not finish, after the variant's name: `was killed for memory after 0.5–0.7 s`.
  var headlined: String {
    let early = runs.filter { $0.ending != .finished }
    let outcomes = early.map(\.outcome).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
    let time = Spread(early.map(\.seconds)).map { " after \(text(range: $0))" } ?? ""
    let share = early.count < runs.count ? " in \(early.count) of \(runs.count) rounds" : ""
    return "was \(outcomes.joined(separator: " or "))\(time)\(share)"
  }

  /// How the rounds ended: `all made`, `killed for memory after 0.5–0.7 s`, `killed for memory in 2 of 3 rounds`.
  ///
  /// - Parameter sources: the number of sources.
  func result(of sources: Int) -> String {
    let early = runs.filter { $0.ending != .finished }
    if early.isEmpty {
      let left = text(runs.map { sources - $0.thumbnails })
      return left == "0" ? "all made" : "made all but \(left)"
    }
    let outcomes = early.map(\.outcome).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
    if outcomes.count == 1, early.count == runs.count, let times = Spread(early.map(\.seconds)) {
      return "\(outcomes[0]) after \(text(range: times))"
    }
    return outcomes.map { outcome in
      "\(outcome) in \(early.count { $0.outcome == outcome }) of \(Units.count(runs.count, "round"))"
    }.joined(separator: ", ")
  }
}
