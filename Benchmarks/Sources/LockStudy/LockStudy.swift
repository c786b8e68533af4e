import ArgumentParser
import Foundation
import Measuring

/// Which lock should guard a queue's account?
@main
struct LockStudy: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench-locks",
    abstract: "Time to acquire of several locks around the same dictionary, as a table in Markdown.")

  @Option(help: "Rounds; in each, every lock has its turn in every pattern.")
  var rounds = 5

  @Option(help: "Milliseconds of one lock in one pattern.")
  var milliseconds = 400

  @Option(help: "Write all figures there.")
  var json: String?

  /// One lock in one pattern, in every round.
  struct Entry: Codable {
    let pattern: String
    let lock: String
    var rounds: [Contest.Round] = []
  }

  func validate() throws {
    guard rounds > 0, milliseconds > 0 else { throw ValidationError("--rounds and --milliseconds start at 1") }
  }

  func run() throws {
    let locks: [any GuardedDictionary.Type] = [
      LockedPlaces.self, MutexPlaces.self, LockPlaces.self, RecursiveLockPlaces.self, ReadWriteLockPlaces.self,
      BarrierPlaces.self,
    ]
    var entries = Pattern.all.map { pattern in locks.map { Entry(pattern: pattern.name, lock: $0.name) } }
    for round in 0..<rounds {
      for (index, pattern) in Pattern.all.enumerated() {
        let contest = Contest(pattern: pattern, duration: UInt64(milliseconds) * 1_000_000)
        // Who begins changes, so that nobody always follows the same neighbour's heat.
        for place in locks.indices.map({ ($0 + round) % locks.count }) {
          entries[index][place].rounds.append(contest.run(locks[place]))
        }
      }
    }
    let report = Report(entries.flatMap { $0 })
    if let json { try report.write(to: json) }
    print("Medians of \(rounds) rounds of \(milliseconds) ms each; \(report.title).")
    for pattern in entries { print("\n### \(pattern[0].pattern)\n\n\(Self.table(of: pattern))") }
  }

  private static func table(of entries: [Entry]) -> String {
    let percentiles = Percentiles.headings.joined(separator: " · ")
    return Measuring.table(
      ["lock", "reads/s", "writes/s", "spread", "readers wait: \(percentiles)", "writers wait: \(percentiles)"],
      entries.map { cells(of: $0) })
  }

  private static func cells(of entry: Entry) -> [String] {
    let (reads, writes) = (entry.rounds.map(\.readsPerSecond), entry.rounds.map(\.writesPerSecond))
    let sums = zip(reads, writes).map { $0 + $1 }
    let spread = ((sums.max() ?? 0) / (sums.min() ?? 1) - 1) * 100
    let waits = [entry.rounds.map(\.readers), entry.rounds.map(\.writers)].map { Percentiles(medianOf: $0) }
    return [entry.lock, countText(median(reads)), countText(median(writes)), "\(Int(spread)) %"]
      + waits.map { $0.cells.joined(separator: " · ") }
  }
}
