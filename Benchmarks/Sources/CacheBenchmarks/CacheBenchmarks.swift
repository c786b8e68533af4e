import ArgumentParser
import Caching
import Locking
import Measuring

/// What does it cost to be limited, and over which guard?
@main
struct CacheBenchmarks: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench-cache", abstract: "Accesses to caches in a second, by the number of threads, in Markdown.")

  @OptionGroup var options: RoundOptions

  /// One cache with one number of threads, in each round. The best one counts: other programs can only slow a round down.
  struct Entry: Codable {
    let cache: String
    /// Of a hundred accesses.
    let reads: Int
    let threads: Int
    var accessesPerSecond: [Double] = []
  }

  private static let shares = [90, 50]
  private static let threads = [1, 2, 4, 8, 16, 32, 64]
  /// As many keys as a cache has room for. The last cache of the list has room for half of them.
  private static let keys = 10_000

  private struct Contestant: Sendable {
    let name: String
    /// Accesses in a second.
    let measure: @Sendable (_ load: Load) -> Double
  }

  /// Each with a type of its own, for which the compiler specialises the measurement.
  private static let contestants = [
    Contestant(name: "dictionary under `Locked`") { $0.measure(DictionaryCache()) },
    Contestant(name: "`LRUCache`") { $0.measure(LRU<Locked<LRUTable<Int, Int>>>(room: keys)) },
    Contestant(name: "LRU over `WriterPreferringLocked`") {
      $0.measure(LRU<WriterPreferringLocked<LRUTable<Int, Int>>>(room: keys))
    },
    Contestant(name: "LRU over `ReaderPreferringLocked`") {
      $0.measure(LRU<ReaderPreferringLocked<LRUTable<Int, Int>>>(room: keys))
    },
    Contestant(name: "`LRUCache` with room for half") { $0.measure(LRU<Locked<LRUTable<Int, Int>>>(room: keys / 2)) },
  ]

  func run() throws {
    var entries = Self.shares.flatMap { reads in
      Self.threads.flatMap { threads in
        Self.contestants.map { Entry(cache: $0.name, reads: reads, threads: threads) }
      }
    }
    for round in 0..<options.rounds {
      for start in stride(from: 0, to: entries.count, by: Self.contestants.count) {
        for own in turns(of: Self.contestants.count, in: round) {
          let entry = entries[start + own]
          let load = Load(
            keys: Self.keys, reads: entry.reads, threads: entry.threads, milliseconds: options.milliseconds)
          entries[start + own].accessesPerSecond.append(Self.contestants[own].measure(load))
        }
      }
    }
    let report = Report(entries)
    if let json = options.json { try report.write(to: json) }
    print(options.title(of: report))
    for reads in Self.shares {
      print("\n### \(reads) % look-ups, \(100 - reads) % insertions: accesses in a second\n")
      let rows = Self.contestants.map { contestant in
        let own = entries.filter { $0.cache == contestant.name && $0.reads == reads }
        return [contestant.name] + own.map { countText($0.accessesPerSecond.max() ?? 0) }
      }
      print(table(["threads"] + Self.threads.map { "\($0)" }, rows))
    }
  }
}
