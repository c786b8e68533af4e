import Foundation
import Locking
import Measuring
import Synchronization

/// One lock in one pattern for a while.
struct Contest {
  let pattern: Pattern
  let duration: UInt64  // nanoseconds

  /// Between two turns of a reader or writer; without it, whoever had the lock last mostly gets it again.
  private static let pause: UInt64 = 500
  /// An operation that does next to nothing: the queue is then at its busiest. Those that make thumbnails take 1,000 times
  /// as long.
  private static let operation: UInt64 = 5_000
  private static let entries = 1_000
  /// What an account with `max` 4 holds, backlog and all.
  private static let accountEntries = 20

  /// One round's figures.
  struct Round: Codable {
    let readsPerSecond: Double
    let writesPerSecond: Double
    let readers: Percentiles
    let writers: Percentiles
  }

  func run<Guarded: GuardedDictionary>(_: Guarded.Type) -> Round {
    let isAccount = pattern.members.contains { if case .worker = $0 { true } else { false } }
    let count = isAccount ? Self.accountEntries : Self.entries
    let guarded = Guarded(Dictionary(uniqueKeysWithValues: (0..<count).map { ($0, $0) }))
    let all = Locked((readers: Latencies(), writers: Latencies()))
    let start = nanoseconds()
    let end = start + duration
    together(
      pattern.members.enumerated().map { index, member in
        {
          var member = Turns(member: member, key: index, count: count, guarded: guarded)
          while nanoseconds() < end { member.take() }
          let latencies = member.latencies
          all.withLock { if member.member.reads { $0.readers.add(latencies) } else { $0.writers.add(latencies) } }
        }
      })
    let seconds = Double(nanoseconds() - start) / 1e9
    return all.withLock {
      Round(
        readsPerSecond: Double($0.readers.count) / seconds, writesPerSecond: Double($0.writers.count) / seconds,
        readers: $0.readers.percentiles, writers: $0.writers.percentiles)
    }
  }

  /// The turns of one thread.
  private struct Turns<Guarded: GuardedDictionary> {
    let member: Pattern.Member
    var key: Int
    let count: Int
    let guarded: Guarded
    var latencies = Latencies()

    mutating func take() {
      key = (key &* 7 &+ 3) % count
      switch member {
      case .reader:
        read { [key] in precondition($0[key] != nil, "entries are changed, never removed") }
        work(nanoseconds: pause)
      case .writer:
        write()
        work(nanoseconds: pause)
      case .worker:
        write()
        work(nanoseconds: operation)
        write()
      case .producer:
        write()
        work(nanoseconds: operation / 4)
      case .watcher:
        read { [count] in precondition(Array($0).count == count, "entries are changed, never removed") }
        Thread.sleep(forTimeInterval: 0.1)
      }
    }

    /// Time to acquire: from asking until the first instruction under the lock.
    private mutating func read(_ body: (Places) -> Void) {
      let asked = nanoseconds()
      var got: UInt64 = 0
      guarded.read { places in
        got = nanoseconds()
        body(places)
      }
      latencies.record(nanoseconds: got - asked)
    }

    private mutating func write() {
      let asked = nanoseconds()
      var got: UInt64 = 0
      guarded.write { places in
        got = nanoseconds()
        places[key, default: 0] += 1
      }
      latencies.record(nanoseconds: got - asked)
    }
  }
}
