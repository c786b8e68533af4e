import LockContest

/// What was measured of one guard in one contest: a figure for each round.
struct LockEntry: Codable {
  let guardName: String
  /// Of a hundred accesses.
  let reads: Int
  let sectionNanoseconds: Int
  let threads: Int
  private(set) var accessesPerSecond: [Double] = []
  private(set) var writesPerSecond: [Double] = []
  /// Nanoseconds that 99 of 100 waits do not exceed; 0 without any. Empty if no waits were measured.
  private(set) var readersWait99: [Int] = []
  private(set) var writersWait99: [Int] = []

  init(guardName: String, reads: Int, sectionNanoseconds: Int, threads: Int) {
    (self.guardName, self.reads) = (guardName, reads)
    (self.sectionNanoseconds, self.threads) = (sectionNanoseconds, threads)
  }

  /// - Returns: the collisions (``Contest/Outcome/collisions``).
  mutating func countAccesses(of contestant: Contestant, seconds: Double) -> Int {
    let outcome = contestant.run(contest(measuresWaits: false, seconds: seconds))
    accessesPerSecond.append(Double(outcome.reads + outcome.writes) / outcome.seconds)
    writesPerSecond.append(Double(outcome.writes) / outcome.seconds)
    return outcome.collisions
  }

  /// - Returns: the collisions (``Contest/Outcome/collisions``).
  mutating func measureWaits(of contestant: Contestant, seconds: Double) -> Int {
    let outcome = contestant.run(contest(measuresWaits: true, seconds: seconds))
    readersWait99.append(outcome.readWaits.quantile(0.99))
    writersWait99.append(outcome.writeWaits.quantile(0.99))
    return outcome.collisions
  }

  private func contest(measuresWaits: Bool, seconds: Double) -> Contest {
    Contest(
      threads: threads, writes: 100 - reads, section: Section(nanoseconds: sectionNanoseconds),
      measuresWaits: measuresWaits, end: .after(seconds: seconds))
  }
}
