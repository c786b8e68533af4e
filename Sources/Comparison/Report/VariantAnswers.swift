import Files

/// What one variant can do, in the words of a table's cells: what it is built to guarantee (its ``VariantTraits``), and
/// what the runs say to it. A run that contradicts a guarantee wins.
struct VariantAnswers {
  private static let unknown = "–"
  /// The memory of the program itself, and of what it keeps between operations, besides its budget.
  private static let programBytes = 64 << 20

  let boundedWaiting: String
  let boundedMemory: String
  let listable: String
  let cancellable: String
  let saysWhy: String
  let survives: String

  /// - Parameters:
  ///   - stopRun: the run that was told to stop; nil if there was none.
  ///   - limit: the limit on memory that the runs had.
  init(_ summary: VariantSummary, _ stopRun: VariantMeasurement?, limit: ComparisonReport.Limit?) {
    let traits = summary.runs.lazy.compactMap(\.traits).first
    boundedWaiting = Self.waiting(traits, summary.most(\.peakWaiting))
    boundedMemory = Self.memory(traits, summary)
    (listable, cancellable) = (Self.listing(stopRun?.stop), Self.cancelling(stopRun))
    saysWhy = traits.map { $0.tellsWhy ? "yes" : "no" } ?? Self.unknown
    let early = summary.runs.count - summary.finishedRounds
    survives =
      limit == nil
      ? Self.unknown : early == 0 ? "yes" : "no: \(Units.count(early, "round")) of \(summary.runs.count) ended early"
  }

  private static func waiting(_ traits: VariantTraits?, _ peak: Int) -> String {
    guard let traits else { return unknown }
    guard let bound = traits.waitingBound else { return "no: \(peak)" }
    return peak <= bound ? "yes: \(peak) of \(bound)" : "no: \(peak), and \(bound) meant"
  }

  private static func memory(_ traits: VariantTraits?, _ summary: VariantSummary) -> String {
    guard let traits else { return unknown }
    let isOut = summary.runs.contains { $0.ending == .killedForMemory || $0.ending == .outOfAddressSpace }
    if isOut { return "no: killed" }
    let (peak, held) = (summary.most(\.peakAnonymousBytes), ByteCount.whole(summary.most(\.peakAnonymousBytes)))
    if let budget = traits.budgetBytes.map({ max($0, traits.largestBytes ?? 0) }) {
      return peak <= budget + programBytes ? "yes, in bytes: \(held)" : "no: \(held) of \(ByteCount.whole(budget))"
    }
    if traits.waitingBound != nil || traits.held == .nothing { return "by number only: \(held)" }
    return traits.held == .path ? "but for the paths: \(held)" : "no: \(held)"
  }

  private static func listing(_ stop: StopMeasurement?) -> String {
    guard let stop, stop.listSentAfterSeconds != nil else { return unknown }
    guard let listed = stop.listedOperations, let seconds = stop.answerSeconds else { return "no" }
    return "yes: \(listed) in \(text(seconds: seconds))"
  }

  private static func cancelling(_ run: VariantMeasurement?) -> String {
    guard let run, let stop = run.stop, stop.stopSentAfterSeconds != nil, stop.wasDoneBefore != true else {
      return unknown
    }
    guard run.ending == .stopped || run.ending == .finished, let seconds = stop.secondsToEnd else {
      return "no: \(run.outcome)"
    }
    if !stop.isTelling, run.traits?.held != .nothing { return "– (\(stop.waitingAtStop ?? 0) waited)" }
    let made = "\(stop.thumbnailsMadeMeanwhile ?? 0) made in \(text(seconds: seconds))"
    return stop.isEndOfWaiting ? "yes: \(made)" : "no: \(made)"
  }
}

extension StopMeasurement {
  /// Whether so much waited when it was told to stop that ``isEndOfWaiting`` says something.
  var isTelling: Bool { (waitingAtStop ?? 0) > 1 }

  /// Whether what waited when it was told to stop was never made. What ran then may end, and so may the source that the
  /// producer was at.
  var isEndOfWaiting: Bool { (thumbnailsMadeMeanwhile ?? 0) <= (runningAtStop ?? 0) + 1 }
}
