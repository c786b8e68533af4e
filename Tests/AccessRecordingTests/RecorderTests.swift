import Foundation
import Locking
import TestSupport
import Testing

@testable import AccessRecording

/// There is one recorder, so the tests take turns.
@Suite(.serialized, .timeLimit(.minutes(1))) struct RecorderTests {
  /// Runs each body on a thread of its own, one after the other, while the recorder is on.
  private func record(_ bodies: (@Sendable () throws -> Void)...) async throws -> AccessReport {
    AccessRecorder.start()
    for body in bodies { try await onThread(body) }
    return AccessRecorder.stop()
  }

  @Test func methodsAreGroupedByClassAndMarkedIfTheyRanOnSeveralThreads() async throws {
    let (bank, vault) = (Bank(), Vault())
    let report = try await record(
      {
        bank.pay(1)
        bank.pay(2)
        vault.lock()
      }, { bank.pay(3) })
    let classes = report.threads.classes.filter { ["Bank", "Vault"].contains($0.name) }
    #expect(classes.map(\.name) == ["Bank", "Vault"])
    #expect(classes[0].methods.map(\.name) == ["Bank.pay(_:)"])
    #expect(classes[0].methods[0].calls == 3 && classes[0].methods[0].threads.count == 2)
    #expect(classes[1].methods[0].isSingleThreaded)
    let lines = report.description.split(separator: "\n").map(String.init)
    #expect(lines.contains("* pay(_:): 3 calls on 2 threads"))
    #expect(lines.contains { $0.hasPrefix("  lock(): 1 calls only on ") })
  }

  @Test func aMethodsResultAndErrorComeOut() async throws {
    let bank = Bank()
    _ = try await record({
      #expect(bank.balance(plus: 5) == 5)
      #expect(throws: Bank.Empty.self) { try bank.fail() }
    })
    #expect(bank.balance(plus: 5) == 5)
    #expect(throws: Bank.Empty.self) { try bank.fail() }
  }

  @Test func nothingIsRecordedBeforeAndAfter() async throws {
    let vault = Vault()
    vault.lock()
    let report = try await record({})
    vault.lock()
    #expect(!report.threads.methods.contains { $0.name.hasPrefix("Vault.") })
    let next = try await record({})
    #expect(!next.threads.methods.contains { $0.name.hasPrefix("Vault.") })
  }

  #if DEBUG
  /// The lines of this file that `report` names for values of this file.
  private func findings(_ report: AccessReport) -> [UnguardedValue] {
    report.unguarded.filter { $0.name.contains("(AccessRecordingTests/") }
  }

  @Test func aValueThatOneLockAlwaysGuardsIsNotReported() async throws {
    let bank = Bank()
    let report = try await record({ bank.pay(1) }, { bank.pay(1) }, { bank.pay(1) })
    #expect(findings(report).isEmpty)
  }

  @Test func aValueWithoutALockIsReportedOnceWithBothPlaces() async throws {
    let line = UInt(#line + 1)
    let count = Box(Shared(0))
    let report = try await record(
      { count.value.modify(line: 1001) { $0 += 1 } }, { count.value.modify(line: 1002) { $0 += 1 } },
      { count.value.modify(line: 1003) { $0 += 1 } })
    let finding = try #require(findings(report).first)
    #expect(findings(report).count == 1)
    #expect(finding.name == "Shared<Int> (AccessRecordingTests/RecorderTests.swift:\(line))")
    #expect(finding.earlier.place == "AccessRecordingTests/RecorderTests.swift:1001")
    #expect(finding.later.place == "AccessRecordingTests/RecorderTests.swift:1002")
    #expect(finding.earlier.isWrite && finding.later.isWrite)
    #expect(finding.earlier.locks.isEmpty && finding.earlier.thread != finding.later.thread)
  }

  @Test func aReadWithoutALockIsReportedBesideALockedChange() async throws {
    let (count, lock) = (Box(Shared(0)), Box(Locked(())))
    let report = try await record(
      { lock.value.withLock { _ in count.value.modify { $0 += 1 } } },
      { count.value.read { _ in } },
      { lock.value.withLock { _ in count.value.modify { $0 += 1 } } })
    let finding = try #require(findings(report).first)
    #expect(!finding.earlier.isWrite && finding.earlier.locks.isEmpty)
    #expect(finding.later.isWrite && finding.later.locks.count == 1)
  }

  @Test func twoDifferentLocksGuardNothing() async throws {
    let (count, first, second) = (Box(Shared(0)), Box(Locked(1)), Box(Locked("")))
    let report = try await record(
      { first.value.withLock { _ in count.value.modify { $0 += 1 } } },
      { second.value.withLock { _ in count.value.modify { $0 += 1 } } },
      { first.value.withLock { _ in count.value.modify { $0 += 1 } } })
    let finding = try #require(findings(report).first)
    #expect(finding.earlier.locks.first?.hasPrefix("Locked<String> #") == true)
    #expect(finding.later.locks.first?.hasPrefix("Locked<Int> #") == true)
  }

  /// Each two accesses have a lock in common, but all of them have none.
  @Test func locksInCommonByTwosAreNotEnough() async throws {
    let (count, locks) = (Box(Shared(0)), (0..<3).map { _ in Box(Locked(())) })
    let change: @Sendable (Int, Int) -> Void = { first, second in
      locks[first].value.withLock { _ in locks[second].value.withLock { _ in count.value.modify { $0 += 1 } } }
    }
    let report = try await record({ change(0, 1) }, { change(1, 2) }, { change(0, 2) }, { change(0, 1) })
    #expect(findings(report).count == 1)
  }

  @Test func aValueThatIsMadeByOneAndReadByManyNeedsNoLock() async throws {
    let count = Box(Shared(0))
    let report = try await record(
      { count.value.modify { $0 = 5 } }, { count.value.read { _ in } }, { count.value.read { _ in } })
    #expect(findings(report).isEmpty)
  }

  @Test func aLockThatReadersShareGuardsReadsButNoChange() async throws {
    let (count, lock) = (Box(Shared(0)), Box(ReaderPreferringLocked(())))
    let good = try await record(
      { lock.value.write { _ in count.value.modify { $0 += 1 } } },
      { lock.value.read { _ in count.value.read { _ in } } },
      { lock.value.write { _ in count.value.modify { $0 += 1 } } })
    #expect(findings(good).isEmpty)
    let bad = try await record(
      { lock.value.write { _ in count.value.modify { $0 += 1 } } },
      { lock.value.read { _ in count.value.modify { $0 += 1 } } })
    #expect(findings(bad).count == 1)
  }

  @Test(arguments: [false, true]) func aValueThatIsHandedOverNeedsNoLock(isSaid: Bool) async throws {
    let count = Box(Shared(0))
    let use: @Sendable () -> Void = {
      count.value.modify { $0 += 1 }
      if isSaid { count.value.handOver() }
    }
    let report = try await record(use, use, use)
    #expect(findings(report).count == (isSaid ? 0 : 1))
  }

  @Test func anEarlierRecordingDoesNotCount() async throws {
    let count = Box(Shared(0))
    let change: @Sendable () -> Void = { count.value.modify { $0 += 1 } }
    #expect(findings(try await record(change)).isEmpty)
    #expect(findings(try await record(change)).isEmpty)
    #expect(findings(try await record(change, change)).count == 1)
    #expect(findings(try await record(change, change)).count == 1)
  }
  #endif
}

/// An object that several closures can have, with a value that cannot be copied.
private final class Box<Value: ~Copyable & Sendable>: Sendable {
  let value: Value

  init(_ value: consuming Value) { self.value = value }
}

private final class Bank: Recorded, Sendable {
  struct Empty: Error {}

  private let lock = Locked(())
  private let sum = Shared(0)

  func pay(_ amount: Int) { recorded { lock.withLock { _ in sum.modify { $0 += amount } } } }
  func balance(plus amount: Int) -> Int { recorded { sum.read { $0 } + amount } }
  func fail() throws(Empty) { try recorded { () throws(Empty) in throw Empty() } }
}

private final class Vault: Recorded, Sendable {
  func lock() { recorded {} }
}
