import ArgumentParser

/// The options of a benchmark in which contestants take turns, for a short time each.
public struct RoundOptions: ParsableArguments {
  @Option(help: "Rounds; in each, every contestant has its turn.")
  public var rounds = 10

  @Option(help: "Milliseconds of one turn.")
  public var milliseconds = 40

  @Option(help: "Write all figures there.")
  public var json: String?

  public init() {}

  public func validate() throws {
    guard rounds > 0, milliseconds > 0 else { throw ValidationError("--rounds and --milliseconds start at 1") }
  }

  /// The line above the tables.
  public func title<Figures>(of report: Report<Figures>) -> String {
    "The best of \(rounds) rounds of \(milliseconds) ms each; \(report.title)."
  }
}

/// The order of the contestants in a round, by number. In the next round another one is first, so that a contestant that
/// leaves the processor hot does not always slow the same one down.
public func turns(of count: Int, in round: Int) -> [Int] { (0..<count).map { ($0 + round) % count } }
