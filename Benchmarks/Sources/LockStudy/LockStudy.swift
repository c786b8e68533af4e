import ArgumentParser
import Foundation
import LockContest
import Measuring

/// From which number of threads, and which length of the section under the lock, on do readers gain by sharing it?
@main
struct LockStudy: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench-locks", abstract: "Accesses in a second and waiting times of guards, as tables in Markdown.")

  @OptionGroup var options: RoundOptions

  @Option(help: "Rounds of one second for each guard in each contest of the tables, in which waits are measured.")
  var waitRounds = 3

  private static let shares = [99, 90, 50]
  private static let sections = [50, 1_000, 10_000, 100_000]
  private static let threads = [1, 2, 4, 16, 64]
  /// Waits are measured among so many threads only, and the tables show these.
  private static let threadsShown = 16
  /// Readers can keep a writer waiting for many times 20 ms. A round that is not longer would show its own length.
  private static let secondsOfWaits = 1.0
  /// What a contest takes besides: threads start, and those that wait at its end get the lock once more.
  private static let secondsAround = 0.03

  func validate() throws {
    guard waitRounds > 0 else { throw ValidationError("--wait-rounds starts at 1") }
  }

  func run() throws {
    var entries = Self.shares.flatMap { reads in
      Self.sections.flatMap { section in
        Self.threads.flatMap { threads in
          Contestant.all.map {
            LockEntry(guardName: $0.name, reads: reads, sectionNanoseconds: section, threads: threads)
          }
        }
      }
    }
    let shown = entries.count / Self.threads.count
    let expected =
      Double(entries.count * options.rounds) * (seconds + Self.secondsAround)
      + Double(shown * waitRounds) * (Self.secondsOfWaits + Self.secondsAround)
    // Not to standard output, which is kept as a file.
    FileHandle.standardError.write(Data("This takes some \(Int((expected / 60).rounded(.up))) minutes.\n".utf8))

    var collisions = 0
    var (alone, both) = (0.0, 0.0)
    for round in 0..<options.rounds {
      alone = max(alone, reads(threads: 1))
      both = max(both, reads(threads: 2))
      for (entry, contestant) in Self.order(of: entries, in: round) {
        collisions += entries[entry].countAccesses(of: contestant, seconds: seconds)
      }
    }
    for round in 0..<waitRounds {
      for (entry, contestant) in Self.order(of: entries, in: round) where entries[entry].threads == Self.threadsShown {
        collisions += entries[entry].measureWaits(of: contestant, seconds: Self.secondsOfWaits)
      }
    }

    let report = Report(entries)
    if let json = options.json { try report.write(to: json) }
    print(options.title(of: report))
    print("Without a lock, two threads make \(countText(both / alone)) times the reads of one.")
    print("Readers and writers who met a writer: \(collisions).")
    print(
      "Accesses of \(Self.threadsShown) threads in a second · the time that 99 of 100 writers wait at most,",
      "the median of \(waitRounds) rounds of \(durationText(nanoseconds: Self.secondsOfWaits * 1e9)) each.")
    for reads in Self.shares { print("\n### \(reads) % reads\n\n\(Self.table(entries.filter { $0.reads == reads }))") }
  }

  private var seconds: Double { Double(options.milliseconds) / 1000 }

  /// Reads in a second without a lock: how many processors the machine has for this program.
  private func reads(threads: Int) -> Double {
    let outcome = Contestant.withoutLock.run(
      Contest(
        threads: threads, writes: 0, section: Section(nanoseconds: 10_000), measuresWaits: false,
        end: .after(seconds: seconds)))
    return Double(outcome.reads) / outcome.seconds
  }

  /// The contests one after the other, in each of which the guards take turns.
  private static func order(of entries: [LockEntry], in round: Int) -> [(entry: Int, contestant: Contestant)] {
    stride(from: 0, to: entries.count, by: Contestant.all.count).flatMap { first in
      turns(of: Contestant.all.count, in: round).map { (first + $0, Contestant.all[$0]) }
    }
  }

  private static func table(_ entries: [LockEntry]) -> String {
    Measuring.table(
      ["guard"] + sections.map { durationText(nanoseconds: Double($0)) },
      Contestant.all.map { contestant in
        [contestant.name]
          + sections.compactMap { section in
            entries.first {
              $0.guardName == contestant.name && $0.sectionNanoseconds == section && $0.threads == threadsShown
            }.map {
              // Other programs can only slow a round down.
              "\(countText($0.accessesPerSecond.max() ?? 0)) · "
                + durationText(nanoseconds: Double(median($0.writersWait99)))
            }
          }
      })
  }
}
