import ArgumentParser
import Caching
import Foundation
import Locking
import Measuring
import Synchronization

/// What does it cost to be limited, and over which guard?
@main
struct CacheBenchmarks: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench-cache", abstract: "Accesses to caches in a second, by the number of threads, in Markdown.")

  @Option(help: "Rounds; in each, every cache has its turn with every number of threads.")
  var rounds = 5

  @Option(help: "Milliseconds of one cache with one number of threads.")
  var milliseconds = 100

  @Option(help: "Write all figures there.")
  var json: String?

  /// One cache with one number of threads.
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

  private static let makers: [(name: String, make: @Sendable () -> any SharedCache)] = [
    ("dictionary under `Locked`", { DictionaryCache() }),
    ("`LRUCache`", { LRU<Locked<LRUTable<Int, Int>>>(room: keys) }),
    ("LRU over `WriterPreferringLocked`", { LRU<WriterPreferringLocked<LRUTable<Int, Int>>>(room: keys) }),
    ("LRU over `ReaderPreferringLocked`", { LRU<ReaderPreferringLocked<LRUTable<Int, Int>>>(room: keys) }),
    ("`LRUCache` with room for half", { LRU<Locked<LRUTable<Int, Int>>>(room: keys / 2) }),
  ]

  func validate() throws {
    guard rounds > 0, milliseconds > 0 else { throw ValidationError("--rounds and --milliseconds start at 1") }
  }

  func run() throws {
    var entries = Self.shares.flatMap { reads in
      Self.threads.flatMap { threads in
        Self.makers.map { Entry(cache: $0.name, reads: reads, threads: threads) }
      }
    }
    for round in 0..<rounds {
      for start in stride(from: 0, to: entries.count, by: Self.makers.count) {
        // Who begins changes, so that nobody always follows the same neighbour's heat.
        for turn in Self.makers.indices {
          let own = (turn + round) % Self.makers.count
          let entry = entries[start + own]
          let rate = measure(Self.makers[own].make(), reads: entry.reads, threads: entry.threads)
          entries[start + own].accessesPerSecond.append(rate)
        }
      }
    }
    let report = Report(entries)
    if let json { try report.write(to: json) }
    print("Medians of \(rounds) rounds of \(milliseconds) ms each; \(report.title).")
    for reads in Self.shares {
      print("\n### \(reads) % look-ups, \(100 - reads) % insertions: accesses in a second\n")
      let rows = Self.makers.map { maker in
        let own = entries.filter { $0.cache == maker.name && $0.reads == reads }
        return [maker.name] + own.map { countText(median($0.accessesPerSecond)) }
      }
      print(table(["threads"] + Self.threads.map { "\($0)" }, rows))
    }
  }

  /// Accesses in a second, to random keys, all of which were inserted before.
  private func measure(_ cache: any SharedCache, reads: Int, threads: Int) -> Double {
    for key in 0..<Self.keys { cache.insert(key, key) }
    let isOver = Flag()
    let total = Locked(0)
    let start = nanoseconds()
    let clock: @Sendable () -> Void = { [milliseconds] in
      Thread.sleep(forTimeInterval: Double(milliseconds) / 1000)
      isOver.value.store(true, ordering: .relaxed)
    }
    let bodies = (1...threads).map { number -> @Sendable () -> Void in
      {
        let count = cache.access(
          until: { isOver.value.load(ordering: .relaxed) }, keys: Self.keys, reads: reads, seed: UInt64(number))
        total.withLock { $0 += count }
      }
    }
    together([clock] + bodies)
    return total.withLock { Double($0) } / (Double(nanoseconds() - start) / 1e9)
  }

  private final class Flag: Sendable {
    let value = Atomic(false)
  }
}
