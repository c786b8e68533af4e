import Dispatch
import Foundation
import Locking
import TestSupport
import Testing

/// Every guard keeps to the same rules.
@Suite(.timeLimit(.minutes(1))) struct GuardTests {
  @Test(arguments: GuardKind.allCases) func noWriteIsLost(kind: GuardKind) async throws {
    let guarded = kind.make([0])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          try await onThread {
            for _ in 0..<1_000 {
              guarded.write { value in
                let old = value[0]
                if old % 10 == 0 { sched_yield() }
                value[0] = old + 1
              }
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(guarded.read { $0 } == [4_000])
  }

  /// Writes until the reader has read often enough, so that the two meet however few processors there are.
  @Test(arguments: GuardKind.allCases) func noReaderSeesAHalfWrittenValue(kind: GuardKind) async throws {
    let (guarded, isRead) = (kind.make([0, 0]), LockedBox(false))
    async let writing: Void = onThread {
      while !isRead.value {
        guarded.write { value in
          value[0] += 1
          sched_yield()
          value[1] += 1
        }
      }
    }
    let isWhole = try await onThread {
      defer { isRead.change { $0 = true } }
      return (0..<2_000).allSatisfy { _ in
        sched_yield()
        return guarded.read { $0[0] == $0[1] }
      }
    }
    try await writing
    #expect(isWhole)
  }

  @Test(arguments: GuardKind.allCases.filter { $0 != .mutex }) func readersAreInTogether(kind: GuardKind) async throws {
    let (guarded, gate) = (kind.make([]), Gate())
    async let first: Void = onThread { guarded.read { _ in gate.pass() } }
    async let second: Void = onThread { guarded.read { _ in gate.pass() } }
    try await onThread { gate.awaitArrivals(2) }
    gate.open()
    _ = try await (first, second)
  }

  @Test(arguments: GuardKind.allCases) func asynchronousWritesAreDoneInOrderBeforeALaterRead(kind: GuardKind) {
    let guarded = kind.make([])
    for number in 0..<100 { guarded.writeAsync { $0.append(number) } }
    #expect(guarded.read { $0 } == Array(0..<100))
    guarded.writeAsync { $0.append(100) }
    #expect(guarded.write { $0.count } == 101)
  }

  @Test(arguments: GuardKind.allCases) func anErrorComesOutAndTheLockIsFreeAgain(kind: GuardKind) {
    struct Refused: Error {}
    let guarded = kind.make([5])
    #expect(throws: Refused.self) { try guarded.read { _ in throw Refused() } }
    #expect(throws: Refused.self) { try guarded.write { _ in throw Refused() } }
    guarded.write { $0.append(6) }
    #expect(guarded.read { $0 } == [5, 6])
  }

  @Test func theValueIsReleasedWithItsGuard() {
    final class Watched: Sendable {}
    func outlives<G: Guard & ~Copyable>(_ make: (Watched) -> G) -> Bool where G.Value == Watched {
      weak var watched: Watched?
      do {
        let value = Watched()
        watched = value
        let guarded = make(value)
        guarded.write { _ in }
      }
      return watched != nil
    }
    #expect(!outlives { Locked($0) })
    #expect(!outlives { ReaderPreferringLocked($0) })
    #expect(!outlives { WriterPreferringLocked($0) })
    #expect(!outlives { SemaphoreLocked($0) })
    #expect(!outlives { BarrierLocked($0) })
  }

  @Test func asynchronousWritesOutliveTheirGuard() async throws {
    let (gate, seen) = (Gate(), LockedBox<[Int]>([]))
    do {
      let guarded = BarrierLocked([1])
      guarded.writeAsync { value in
        gate.pass()
        value.append(2)
      }
      guarded.writeAsync { value in seen.change { $0 = value } }
    }
    gate.open()
    #expect(try await eventually { seen.value == [1, 2] })
  }

  // MARK: Who goes first

  /// A reader is in, a writer waits, and a second reader comes.
  private func order(of kind: GuardKind) async throws -> [Int] {
    let (guarded, gate, secondGate, order) = (kind.make([]), Gate(), Gate(), LockedBox<[Int]>([]))
    let (writer, reader) = (LockedBox<Int?>(nil), LockedBox<Int?>(nil))
    async let first: Void = onThread { guarded.read { _ in gate.pass() } }
    try await onThread { gate.awaitArrivals(1) }
    async let writing: Void = onThread {
      writer.change { $0 = ThreadIdentity.current.id }
      guarded.write { _ in order.change { $0.append(1) } }
    }
    #expect(try await eventually { isAsleep(writer.value) })
    async let second: Void = onThread {
      reader.change { $0 = ThreadIdentity.current.id }
      guarded.read { _ in
        order.change { $0.append(2) }
        secondGate.pass()
      }
    }
    // Either it is in, or it waits.
    #expect(try await eventually { isAsleep(reader.value) })
    gate.open()
    secondGate.open()
    _ = try await (first, writing, second)
    return order.value
  }

  @Test(arguments: [GuardKind.readerPreferring, .semaphore])
  func aReaderPassesAWriterThatWaits(kind: GuardKind) async throws {
    #expect(try await order(of: kind) == [2, 1])
  }

  @Test func aReaderDoesNotPassAWriterThatWaits() async throws {
    #expect(try await order(of: .writerPreferring) == [1, 2])
    #expect(try await order(of: .barrier) == [1, 2])
  }
}

/// The guards, for tests that are given each of them.
enum GuardKind: String, CaseIterable, Codable {
  case mutex, readerPreferring, writerPreferring, semaphore, barrier

  func make(_ value: [Int]) -> any GuardedNumbers {
    switch self {
    case .mutex: Box<Locked<[Int]>>(value)
    case .readerPreferring: Box<ReaderPreferringLocked<[Int]>>(value)
    case .writerPreferring: Box<WriterPreferringLocked<[Int]>>(value)
    case .semaphore: Box<SemaphoreLocked<[Int]>>(value)
    case .barrier: Box<BarrierLocked<[Int]>>(value)
    }
  }
}

/// A guard that cannot be copied is no existential value, but an object that has one is.
protocol GuardedNumbers: AnyObject, Sendable {
  func read<Result>(_ body: ([Int]) throws -> Result) rethrows -> Result
  func write<Result>(_ body: (inout [Int]) throws -> Result) rethrows -> Result
  func writeAsync(_ body: @escaping @Sendable (inout [Int]) -> Void)
}

private final class Box<G: Guard & ~Copyable>: GuardedNumbers where G.Value == [Int] {
  private let guarded: G

  init(_ value: [Int]) { guarded = G(value) }

  func read<Result>(_ body: ([Int]) throws -> Result) rethrows -> Result { try guarded.read(body) }
  func write<Result>(_ body: (inout [Int]) throws -> Result) rethrows -> Result { try guarded.write(body) }
  func writeAsync(_ body: @escaping @Sendable (inout [Int]) -> Void) { guarded.writeAsync(body) }
}

/// Whether a thread waits for something, by the third field of proc_pid_stat(5).
private func isAsleep(_ thread: Int?) -> Bool {
  guard let thread, let line = try? String(contentsOfFile: "/proc/self/task/\(thread)/stat", encoding: .utf8)
  else { return false }
  return line.drop { $0 != ")" }.dropFirst(2).first == "S"
}
