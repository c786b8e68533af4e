#if DEBUG
import Foundation
import TestSupport
import Testing

@testable import Locking

/// What debug builds refuse. Each runs in a process of its own, which traps.
@Suite(.timeLimit(.minutes(5))) struct LockOrderTests {
  private func text(_ result: ExitTest.Result?) -> String {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  }

  @Test(arguments: GuardKind.allCases) func aGuardThatIsTakenTwiceTrapsByName(kind: GuardKind) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [kind] in
      silenceBacktracer()
      let guarded = kind.make([])
      guarded.write { _ in guarded.write { _ in } }
    }
    let report = text(result)
    #expect(report.contains("Locked<Array<Int>> #"), "\(report)")
    #expect(report.contains("(LockingTests/GuardTests.swift:"), "\(report)")
    #expect(report.contains("which it holds already"), "\(report)")
  }

  @Test(arguments: GuardKind.allCases) func aReadInARead(kind: GuardKind) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [kind] in
      silenceBacktracer()
      let guarded = kind.make([])
      guarded.read { _ in guarded.read { _ in } }
    }
    #expect(text(result).contains("which it holds already"), "\(text(result))")
  }

  @Test func twoOrdersTrapAndNameBothLocksAndThreads() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      silenceBacktracer()
      let account = Locked(1, file: "Bank/Account.swift", line: 12)
      let journal = BarrierLocked("", file: "Bank/Journal.swift", line: 34)
      await onNamedThread("teller") { takeForward(account, journal) }
      await onNamedThread("auditor") { takeBackward(account, journal) }
    }
    let lines = text(result).split(separator: "\n").map(String.init)
    let first = try #require(lines.firstIndex { $0.contains("locks are taken in two orders: auditor") })
    let account = try #require(lines[first].range(of: "takes Locked<Int> #"))
    let journal = try #require(lines[first].range(of: "while it holds BarrierLocked<String> #"))
    #expect(account.lowerBound < journal.lowerBound)
    #expect(lines[first].contains("(Bank/Account.swift:12)") && lines[first].contains("(Bank/Journal.swift:34)"))
    let second = try #require(lines.firstIndex { $0.hasPrefix("before: teller") })
    #expect(lines[second].contains("takes BarrierLocked<String> #"))
    #expect(lines[second].contains("while it holds Locked<Int> #"))
    // The stacks: the one of now between the two lines, and that of before after them.
    #expect(lines[first..<second].contains { $0.contains("takeBackward") }, "\(lines[first...])")
    #expect(lines[second...].contains { $0.contains("takeForward") }, "\(lines[first...])")
  }

  @Test func aCircleOfThreeLocksTraps() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      silenceBacktracer()
      let (a, b) = (One(1), One(2))
      let c = One(3)
      a.locked.withLock { _ in b.locked.withLock { _ in } }
      b.locked.withLock { _ in c.locked.withLock { _ in } }
      c.locked.withLock { _ in a.locked.withLock { _ in } }
    }
    #expect(text(result).components(separatedBy: "\nbefore: ").count == 3, "\(text(result))")
  }

  @Test func aTreeOfLocksFromOnePlaceIsNoMistake() {
    let nodes = (0..<15).map { One($0) }
    for _ in 0..<2 {
      for child in 1..<nodes.count {
        nodes[(child - 1) / 2].locked.withLock { _ in nodes[child].locked.withLock { _ in } }
      }
    }
  }

  @Test func aReaderMayAskForALaterWrite() {
    let numbers = BarrierLocked([1])
    numbers.read { numbers in
      #expect(numbers == [1])
    }
    numbers.read { _ in numbers.writeAsync { $0.append(2) } }
    #expect(numbers.read { $0 } == [1, 2])
  }

  @Test func aDestroyedLockIsForgotten() async throws {
    await #expect(processExitsWith: .success) {
      let log = One(0)
      for round in 0..<100 {
        let (outer, inner) = (One(round), One(round))
        outer.locked.withLock { _ in inner.locked.withLock { _ in log.locked.withLock { _ in } } }
        precondition(LockOrder.shared.edgeCount == 3)
      }
      precondition(LockOrder.shared.edgeCount == 0)
    }
  }
}

private final class One: Sendable {
  let locked: Locked<Int>

  init(_ number: Int) { locked = Locked(number) }
}

@inline(never) private func takeForward(_ account: borrowing Locked<Int>, _ journal: borrowing BarrierLocked<String>) {
  account.withLock { _ in journal.write { $0 += "paid" } }
}

@inline(never) private func takeBackward(_ account: borrowing Locked<Int>, _ journal: borrowing BarrierLocked<String>) {
  journal.read { _ in account.withLock { $0 += 1 } }
}
#endif
