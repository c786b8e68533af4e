import Foundation
import TestSupport
import Testing

@testable import BoundedQueue

extension QueueTests {
  /// Time limits, work that is tried again, and results that callers share.
  @Suite struct Results {
    private let clock = ManualClock()

    private func queue(max: Int = 2) -> BoundedOperationQueue {
      BoundedOperationQueue(name: "test", maxConcurrentOperations: max, backlog: 10, clock: clock)
    }

    @Test func workThatTakesLongerThanItsLimitIsCancelled() async throws {
      let queue = queue()
      let started = Gate()
      let endless = ResultOperation(title: "endless", timeLimit: .seconds(5)) { () async throws -> Int in
        try await Task.sleep(for: .seconds(1000))
        return 1
      }
      let onThread = Limited(timeLimit: .seconds(7), started)
      let waits = ResultOperation(title: "waits", timeLimit: .seconds(1)) { 3 }
      for work in [endless, onThread, waits] as [BoundedOperation] { try await queue.submit(work) }
      #expect(try await eventually { clock.sleepers == 2 })
      clock.advance(by: .seconds(5))
      await #expect(throws: OperationCancelledError(reason: .timeout)) { try await endless.result }
      // The limit counts from the start of the work, not from its submission.
      #expect(try await waits.result == 3)
      #expect(onThread.outcome == nil)
      clock.advance(by: .seconds(2))
      #expect(try await onThread.waitForEnd().words == "cancelled while running, by its time limit")
      try await queue.drain()
      // The timer of work that ends in time goes with it.
      #expect(try await eventually { clock.sleepers == 0 })
    }

    @Test func aDrainWaitsNoLongerThanItsLimit() async throws {
      let queue = queue()
      let gate = Gate()
      defer { gate.open() }
      try await queue.submit(Work(at: gate))
      async let first = queue.drain(for: .seconds(10))
      #expect(try await eventually { clock.sleepers == 1 })
      clock.advance(by: .seconds(10))
      #expect(try await !first)
      async let second = queue.drain(for: .seconds(10))
      gate.open()
      #expect(try await second)
      #expect(try await eventually { clock.sleepers == 0 })
    }

    @Test func workIsTriedAgainAfterGrowingDelays() async throws {
      let queue = queue()
      let policy = RetryPolicy(attempts: 4, firstDelay: .seconds(1), longestDelay: .seconds(3), randomPart: 0)
      let attempts = LockedBox<[Int]>([])
      async let result = queue.result(retrying: policy) { attempt in
        ResultOperation(title: "attempt \(attempt)") { () async throws -> String in
          attempts.change { $0.append(attempt) }
          if attempt < 4 { throw Deliberate() }
          return "made"
        }
      }
      for (made, delay) in [(1, 1), (2, 2), (3, 3)] {
        #expect(try await eventually { attempts.value.count == made && clock.sleepers == 1 })
        // Between attempts it takes no place.
        #expect(try await eventually { queue.counters.running == 0 && queue.counters.waiting == 0 })
        clock.advance(by: .seconds(delay) - .nanoseconds(1))
        #expect(clock.sleepers == 1)
        clock.advance(by: .nanoseconds(1))
      }
      #expect(try await result == "made" && attempts.value == [1, 2, 3, 4])
      try await queue.drain()
      #expect(queue.counters.failed == 3 && queue.counters.succeeded == 1)
    }

    @Test func anOperationTriesAPartOfItsWorkAgainInItsPlace() async throws {
      let queue = queue()
      let attempts = LockedBox<[Int]>([])
      let lastStage = LockedBox<String?>(nil)
      let work = Work { work in
        let policy = RetryPolicy(attempts: 3, firstDelay: .seconds(1), randomPart: 0)
        try work.retrying(policy) { attempt in
          attempts.change { $0.append(attempt) }
          if attempt < 3 { throw Deliberate() }
        }
        lastStage.change { $0 = work.snapshot().stage }
      }
      try await queue.submit(work)
      for (made, delay) in [(1, 1), (2, 2)] {
        #expect(try await eventually { attempts.value.count == made && clock.sleepers == 1 })
        #expect(queue.snapshot().running.map(\.stage) == ["waiting to try again"])
        clock.advance(by: .seconds(delay))
      }
      try await queue.drain()
      #expect(attempts.value == [1, 2, 3] && lastStage.value == "trying again" && work.outcome?.words == "succeeded")
    }

    @Test func aCancellationEndsAPause() async throws {
      let queue = queue()
      let work = Work { work in
        try work.retrying(RetryPolicy(attempts: 9, firstDelay: .seconds(1))) { _ in throw Deliberate() }
      }
      let cancelledBefore = Work { work in
        work.cancel(reason: .pressure)
        try work.pause(for: .seconds(1))
      }
      try await queue.submit(work)
      #expect(try await eventually { clock.sleepers == 1 })
      work.cancel()
      try await queue.submit(cancelledBefore)
      try await queue.drain()
      #expect(work.outcome?.words == "cancelled while running, by the user")
      #expect(cancelledBefore.outcome?.words == "cancelled while running, by memory pressure")
      #expect(try await eventually { clock.sleepers == 0 })
    }

    @Test func theLastErrorIsThatOfTheResult() async throws {
      let queue = queue()
      await #expect(throws: Deliberate.self) {
        try await queue.result(retrying: RetryPolicy(attempts: 1)) { _ in
          ResultOperation(title: "fails") { () async throws -> Int in throw Deliberate() }
        }
      }
      // What was cancelled is not tried again, unless the policy says so.
      await #expect(throws: OperationCancelledError(reason: .user)) {
        try await queue.result(retrying: RetryPolicy(attempts: 9)) { _ in
          let cancelled = ResultOperation(title: "cancelled") { 1 }
          cancelled.cancel()
          return cancelled
        }
      }
      let policy = RetryPolicy(attempts: 2, firstDelay: .zero) { ($0 as? OperationCancelledError)?.reason == .pressure }
      let made = LockedBox(0)
      async let result = queue.result(retrying: policy) { attempt in
        made.change { $0 += 1 }
        let work = ResultOperation(title: "\(attempt)") { attempt }
        if attempt == 1 { work.cancel(reason: .pressure) }
        return work
      }
      #expect(try await eventually { clock.sleepers == 1 || made.value == 2 })
      clock.advance(by: .seconds(1))
      #expect(try await result == 2)
    }

    @Test func aTaskThatIsCancelledTriesNothingAgain() async throws {
      let queue = queue()
      let made = LockedBox(0)
      let task = Task {
        try await queue.result(retrying: RetryPolicy(attempts: 9)) { _ in
          made.change { $0 += 1 }
          return ResultOperation(title: "fails") { () async throws -> Int in throw Deliberate() }
        }
      }
      #expect(try await eventually { clock.sleepers == 1 })
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(made.value == 1)
    }

    @Test func delaysGrowToTheLongestAndAreRandomInPart() {
      let policy = RetryPolicy(attempts: 100, firstDelay: .seconds(1), longestDelay: .seconds(60))
      #expect(policy.delay(afterAttempt: 1, Deliberate(), random: 1) == .seconds(1))
      #expect(policy.delay(afterAttempt: 1, Deliberate(), random: 0) == .seconds(0.5))
      #expect(policy.delay(afterAttempt: 4, Deliberate(), random: 1) == .seconds(8))
      #expect(policy.delay(afterAttempt: 99, Deliberate(), random: 1) == .seconds(60))
      #expect(policy.delay(afterAttempt: 100, Deliberate()) == nil)
      #expect(policy.delay(afterAttempt: 1, OperationCancelledError(reason: .user)) == nil)
      #expect(policy.delay(afterAttempt: 1, CancellationError()) == nil)
    }

    @Test func callersShareTheOperationOfAKey() async throws {
      let queue = queue()
      let gate = Gate()
      defer { gate.open() }
      let shared = SharedResults<String, Int>(queue)
      let made = LockedBox(0)
      let callers = (0..<50).map { number in
        Task {
          try await shared.value(for: number < 40 ? "a" : "b") {
            ResultOperation(title: "work") {
              gate.pass()
              return made.change {
                $0 += 1
                return $0
              }
            }
          }
        }
      }
      #expect(try await eventually { queue.counters.running == 2 && shared.waiterCount == 50 })
      // One that is cancelled waits no more, and the others do.
      callers[0].cancel()
      await #expect(throws: CancellationError.self) { try await callers[0].value }
      gate.open()
      var values: Set<Int> = []
      for caller in callers.dropFirst() { values.insert(try await caller.value) }
      #expect(values == [1, 2] && shared.pendingCount == 0)
      // Who asks after the end has an operation of their own.
      #expect(try await shared.value(for: "a") { ResultOperation(title: "again") { 3 } } == 3)
    }

    @Test func theLastCallerWhoLeavesCancelsTheOperation() async throws {
      let queue = queue(max: 1)
      let shared = SharedResults<String, Int>(queue)
      let gate = Gate()
      defer { gate.open() }
      try await queue.submit(Work(at: gate))
      let operation = ResultOperation(title: "shared") { () async throws -> Int in 1 }
      let callers = (0..<3).map { _ in Task { try await shared.value(for: "k") { operation } } }
      #expect(try await eventually { queue.counters.waiting == 1 && shared.pendingCount == 1 })
      for caller in callers { caller.cancel() }
      for caller in callers { await #expect(throws: CancellationError.self) { try await caller.value } }
      #expect(try await eventually { operation.outcome?.words == "cancelled while waiting, by the user" })
      #expect(shared.pendingCount == 0)
    }

    @Test func allCallersGetTheErrorAlsoThatOfTheSubmission() async throws {
      let queue = queue()
      let shared = SharedResults<Int, Int>(queue)
      await #expect(throws: Deliberate.self) {
        try await shared.value(for: 1) {
          ResultOperation(title: "fails") { () async throws -> Int in throw Deliberate() }
        }
      }
      queue.close()
      await #expect(throws: SubmitError.closed) {
        try await shared.value(for: 1) { ResultOperation(title: "refused") { 1 } }
      }
      #expect(shared.pendingCount == 0)
    }

    @Test func progressCountsWhatRunsByItsFraction() async throws {
      let queue = queue(max: 1)
      #expect(queue.progress.fraction == 0)
      let (half, gate) = (Gate(), Gate())
      defer { gate.open() }
      try await queue.submit(Work())
      try await queue.submit(
        Work("half") { work in
          work.reportProgress(0.5)
          half.open()
          gate.pass()
        })
      for _ in 0..<2 { try await queue.submit(Work(at: gate)) }
      try await onThread { half.pass() }
      let progress = queue.progress
      #expect(progress.submitted == 4 && progress.ended == 1 && progress.done == 1.5 && progress.fraction == 0.375)
      gate.open()
      try await queue.drain()
      #expect(queue.progress.fraction == 1)
    }
  }
}

/// Runs until its time is up.
private final class Limited: BoundedOperation, @unchecked Sendable {  // adds a constant
  private let started: Gate

  init(timeLimit: Duration, _ started: Gate) {
    self.started = started
    super.init(title: "limited", timeLimit: timeLimit)
  }

  override func execute() throws {
    started.open()
    while true { try checkCancelled() }
  }
}
