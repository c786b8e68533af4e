import Foundation
import Locking
import Synchronization

/// Threads that compete for one guard, and check that it guards.
///
/// They do nothing but access the value. So the lock is wanted as often as possible, and readers gain the most if they
/// share it.
public struct Contest: Sendable {
  /// When a thread is done.
  public enum End: Sendable {
    case after(seconds: Double)
    /// After as many accesses of each thread.
    case accesses(Int)
  }

  public var threads: Int
  /// Of a hundred accesses.
  public var writes: Int
  /// How long an access holds the lock.
  public var section: Section
  /// Whether threads do not wait until their writes are done (``Guard/writeAsync(_:)``).
  var isAsync = false
  /// Whether each access measures how long it waits. The clocks take time, so threads then make fewer accesses.
  public var measuresWaits: Bool
  public var end: End

  public init(threads: Int, writes: Int, section: Section, measuresWaits: Bool, end: End) {
    (self.threads, self.writes, self.section) = (threads, writes, section)
    (self.measuresWaits, self.end) = (measuresWaits, end)
  }

  /// What is guarded. Each write changes both numbers, at its two ends.
  struct Value: Sendable {
    var first = 0
    var second = 0
  }

  /// What happened.
  public struct Outcome: Sendable {
    public internal(set) var reads = 0
    public internal(set) var writes = 0
    /// Reads and writes that met a write, or were met by one.
    public internal(set) var collisions = 0
    public internal(set) var seconds = 0.0
    /// From the request to the first instruction under the lock. Empty unless the contest measures waits.
    public internal(set) var readWaits = Waits()
    /// As ``readWaits``. Of a write that no thread waits for: from the request until the thread goes on.
    public internal(set) var writeWaits = Waits()
  }

  /// - Returns: when all writes are done, also those that no thread has waited for.
  func run<Guarded>(_: Guarded.Type) -> Outcome where Guarded: Guard<Value> & ~Copyable {
    let arena = Arena(guarded: Guarded(Value()))
    let (ready, done, go) = (DispatchGroup(), DispatchGroup(), DispatchSemaphore(value: 0))
    for number in 0..<threads {
      ready.enter()
      done.enter()
      Thread.detachNewThread {
        var player = Player(contest: self, seed: UInt64(number + 1))
        ready.leave()
        go.wait()
        player.play(in: arena)
        let own = player.outcome
        arena.outcome.withLock { $0.add(own) }
        done.leave()
      }
    }
    ready.wait()
    let clock = ContinuousClock()
    let start = clock.now
    for _ in 0..<threads { go.signal() }
    if case .after(let seconds) = end {
      Thread.sleep(forTimeInterval: seconds)
      arena.isOver.store(true, ordering: .relaxed)
    }
    done.wait()
    let last = arena.guarded.read { $0 }
    let time = clock.now - start
    return arena.outcome.withLock { outcome in
      outcome.seconds = time / .seconds(1)
      // Writes that ran at the same time would have lost a count.
      outcome.collisions += arena.collisions.load(ordering: .relaxed)
      outcome.collisions += abs(outcome.writes - last.first) + abs(outcome.writes - last.second)
      return outcome
    }
  }
}

/// What the threads of a contest share.
private final class Arena<Guarded: Guard<Contest.Value> & ~Copyable>: Sendable {
  let guarded: Guarded
  let isOver = Atomic(false)
  let outcome = Locked(Contest.Outcome())
  /// Collisions of writes that nobody has waited for.
  let collisions = Atomic(0)

  init(guarded: consuming Guarded) { self.guarded = guarded }
}

/// One thread of a contest.
private struct Player {
  let contest: Contest
  var outcome = Contest.Outcome()
  private var random: UInt64

  init(contest: Contest, seed: UInt64) { (self.contest, random) = (contest, seed &* 0x9E37_79B9_7F4A_7C15) }

  mutating func play<Guarded>(in arena: Arena<Guarded>) where Guarded: Guard<Contest.Value> & ~Copyable {
    var left = Int.max
    if case .accesses(let count) = contest.end { left = count }
    while left > 0, !arena.isOver.load(ordering: .relaxed) {
      random ^= random << 13
      random ^= random >> 7
      random ^= random << 17
      if random >> 33 % 100 < UInt64(contest.writes) {
        write(arena)
      } else {
        read(arena)
      }
      left -= 1
    }
  }

  private mutating func read<Guarded>(_ arena: Arena<Guarded>) where Guarded: Guard<Contest.Value> & ~Copyable {
    let isTimed = contest.measuresWaits
    let asked = isTimed ? Waits.now() : 0
    var got: UInt64 = 0
    let section = contest.section
    let isWhole = arena.guarded.read { value in
      if isTimed { got = Waits.now() }
      section.pass()
      return value.first == value.second
    }
    outcome.reads += 1
    if !isWhole { outcome.collisions += 1 }
    if isTimed { outcome.readWaits.record(got - asked) }
  }

  private mutating func write<Guarded>(_ arena: Arena<Guarded>) where Guarded: Guard<Contest.Value> & ~Copyable {
    let isTimed = contest.measuresWaits
    let asked = isTimed ? Waits.now() : 0
    var got: UInt64 = 0
    let section = contest.section
    outcome.writes += 1
    if contest.isAsync {
      arena.guarded.writeAsync { value in
        if !value.change(section) { arena.collisions.add(1, ordering: .relaxed) }
      }
      if isTimed { got = Waits.now() }
    } else {
      let isWhole = arena.guarded.write { value in
        if isTimed { got = Waits.now() }
        return value.change(section)
      }
      if !isWhole { outcome.collisions += 1 }
    }
    if isTimed { outcome.writeWaits.record(got - asked) }
  }
}

extension Contest.Value {
  /// - Returns: false if another write has begun and not ended.
  fileprivate mutating func change(_ section: Section) -> Bool {
    let isWhole = first == second
    first += 1
    section.pass()
    second += 1
    return isWhole
  }
}

extension Contest.Outcome {
  fileprivate mutating func add(_ other: Contest.Outcome) {
    reads += other.reads
    writes += other.writes
    collisions += other.collisions
    readWaits.add(other.readWaits)
    writeWaits.add(other.writeWaits)
  }
}
