import ArgumentParser
import Foundation
import LockContest
import Measuring

/// From which number of threads, and which length of the section under the lock, on do readers gain by sharing it?
@main
struct LockStudy: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench-locks", abstract: "Accesses in a second and waiting times of guards, as tables in Markdown.")

  @Option(help: "Rounds; in each, every guard has its turn in every contest.")
  var rounds = 15

  @Option(help: "Milliseconds of one guard in one contest.")
  var milliseconds = 20

  @Option(help: "Write all figures there.")
  var json: String?

  /// One guard in one contest, in each round.
  struct Entry: Codable {
    let guardName: String
    /// Of a hundred accesses.
    let reads: Int
    let sectionNanoseconds: Int
    let threads: Int
    var accessesPerSecond: [Double] = []
    var writesPerSecond: [Double] = []
    /// Nanoseconds that 99 of 100 waits do not exceed; 0 without any.
    var readersWait99: [Int] = []
    var writersWait99: [Int] = []

    /// The round with the most accesses. Other programs can only slow a round down.
    var best: Int { accessesPerSecond.indices.max { accessesPerSecond[$0] < accessesPerSecond[$1] } ?? 0 }
  }

  private static let shares = [99, 90, 50]
  private static let sections = [50, 1_000, 10_000, 100_000]
  private static let threads = [1, 2, 4, 16, 64]
  /// What the tables show.
  private static let threadsShown = 16

  func validate() throws {
    guard rounds > 0, milliseconds > 0 else { throw ValidationError("--rounds and --milliseconds start at 1") }
  }

  func run() throws {
    var entries = Self.shares.flatMap { reads in
      Self.sections.flatMap { section in
        Self.threads.flatMap { threads in
          Contestant.all.map {
            Entry(guardName: $0.name, reads: reads, sectionNanoseconds: section, threads: threads)
          }
        }
      }
    }
    var collisions = 0
    var (alone, both) = (0.0, 0.0)
    for round in 0..<rounds {
      alone = max(alone, reads(threads: 1))
      both = max(both, reads(threads: 2))
      for start in stride(from: 0, to: entries.count, by: Contestant.all.count) {
        // Who begins changes, so that nobody always follows the same neighbour's heat.
        for turn in Contestant.all.indices {
          let own = (turn + round) % Contestant.all.count
          collisions += add(Contestant.all[own], to: &entries[start + own])
        }
      }
    }
    let report = Report(entries)
    if let json { try report.write(to: json) }
    print("The best of \(rounds) rounds of \(milliseconds) ms each; \(report.title).")
    print("Without a lock, two threads make \(countText(both / alone)) times the reads of one.")
    print("Readers and writers who met a writer: \(collisions).")
    print("Accesses of \(Self.threadsShown) threads in a second · 99 of 100 writers wait at most.")
    for reads in Self.shares { print("\n### \(reads) % reads\n\n\(Self.table(entries.filter { $0.reads == reads }))") }
  }

  /// Reads in a second without a lock: how many processors the machine has for this program.
  private func reads(threads: Int) -> Double {
    let outcome = Contestant.withoutLock.run(
      Contest(
        threads: threads, writes: 0, section: Section(nanoseconds: 10_000),
        end: .after(seconds: Double(milliseconds) / 1000)))
    return Double(outcome.reads) / outcome.seconds
  }

  private func add(_ contestant: Contestant, to entry: inout Entry) -> Int {
    let outcome = contestant.run(
      Contest(
        threads: entry.threads, writes: 100 - entry.reads, section: Section(nanoseconds: entry.sectionNanoseconds),
        end: .after(seconds: Double(milliseconds) / 1000)))
    entry.accessesPerSecond.append(Double(outcome.reads + outcome.writes) / outcome.seconds)
    entry.writesPerSecond.append(Double(outcome.writes) / outcome.seconds)
    entry.readersWait99.append(outcome.readWaits.quantile(0.99))
    entry.writersWait99.append(outcome.writeWaits.quantile(0.99))
    return outcome.collisions
  }

  private static func table(_ entries: [Entry]) -> String {
    Measuring.table(
      ["guard"] + sections.map { durationText(nanoseconds: Double($0)) },
      Contestant.all.map { contestant in
        [contestant.name]
          + sections.compactMap { section in
            entries.first {
              $0.guardName == contestant.name && $0.sectionNanoseconds == section && $0.threads == threadsShown
            }.map {
              "\(countText($0.accessesPerSecond[$0.best])) · "
                + durationText(nanoseconds: Double($0.writersWait99[$0.best]))
            }
          }
      })
  }
}
