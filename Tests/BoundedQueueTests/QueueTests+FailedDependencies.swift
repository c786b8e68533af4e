import BoundedQueue
import Foundation
import TestSupport
import Testing

extension QueueTests {
  @Suite struct FailedDependencies {
    private func queue(max: Int = 2, backlog: Int = 100) -> BoundedOperationQueue {
      BoundedOperationQueue(name: "test", maxConcurrentOperations: max, backlog: backlog)
    }

    @Test func aFailureCancelsAllDependantsDownTheChainAndNamesItsRoot() async throws {
      let (queue, gate) = (queue(), Gate())
      let failing = Work("failing") { _ in
        gate.pass()
        throw Deliberate()
      }
      let chain = (0..<3).map { Work("link \($0)") }
      for (dependant, dependency) in zip(chain, [failing] + chain) { dependant.addDependency(dependency) }
      try await onThread { for operation in [failing] + chain { try queue.submitBlocking(operation) } }
      gate.open()
      try await queue.drain()
      for link in chain {
        #expect(link.outcome?.cancelReason == .dependency)
        #expect(link.snapshot().failedDependency?.description == "#\(failing.id) failing failed: deliberate")
        #expect(link.description.contains("#\(failing.id) failing failed: deliberate"))
      }
      let counters = queue.counters
      #expect(counters.failed == 1 && counters.cancelledWhileWaiting == 3 && counters.cancelledForDependencies == 3)
      #expect(counters.addUp)
    }

    @Test func aDependencyThatFailedBeforeTheSubmissionCancelsTheDependantAtOnce() async throws {
      let queue = queue()
      let (failing, dependant) = (Work { _ in throw Deliberate() }, Work())
      try await queue.submit(failing)
      try await queue.drain()
      dependant.addDependency(failing)
      try await queue.submit(dependant)
      try await queue.drain()
      #expect(dependant.outcome?.cancelReason == .dependency && queue.counters.addUp)
    }

    @Test func aDependantThatCopesRunsAndReadsWhatHappened() async throws {
      let (queue, gate) = (queue(), Gate())
      let failing = ResultOperation<Int>(title: "failing") {
        gate.pass()
        throw Deliberate()
      }
      let cancelled = ResultOperation<Int>(title: "cancelled") { 1 }
      let fine = ResultOperation<Int>(title: "fine") { 7 }
      let sheet = Sheet([failing, cancelled, fine])
      try await onThread {
        for operation in [failing, cancelled, fine, sheet] as [BoundedOperation] { try queue.submitBlocking(operation) }
        cancelled.cancel()
      }
      gate.open()
      try await queue.drain()
      #expect(fine.value == 7 && failing.value == nil)
      #expect(sheet.value?[0] == "failed: deliberate" && sheet.value?[2] == "7")
    }

    @Test func cancellingADependantLeavesAloneWhatOthersNeed() async throws {
      let (queue, gate) = (queue(), Gate())
      let (first, dependant, other) = (Work(at: gate), Work(), Work())
      dependant.addDependency(first)
      other.addDependency(first)
      try await onThread { for operation in [first, dependant, other] { try queue.submitBlocking(operation) } }
      #expect(queue.cancel(id: dependant.id, reason: .user))
      #expect(dependant.outcome?.cancelReason == .user)
      #expect(dependant.snapshot().failedDependency == nil)
      #expect(first.snapshot().neededBy == 1)
      gate.open()
      try await queue.drain()
      #expect(queue.counters.succeeded == 2 && queue.counters.cancelledWhileWaiting == 1)
    }

    @Test func cancellingWhatOthersNeedCancelsThem() async throws {
      let queue = queue()
      let started = Gate()
      let (first, dependant) = (Work.endless(started), Work())
      dependant.addDependency(first)
      try await onThread {
        for operation in [first, dependant] { try queue.submitBlocking(operation) }
        started.pass()
      }
      #expect(first.snapshot().neededBy == 1)
      first.cancel()
      try await queue.drain()
      #expect(dependant.snapshot().failedDependency?.ending == "was cancelled by the user")
    }

    @Test func aCancelledOperationOfAnotherKindCountsAsNotSuccessful() async throws {
      let (queue, dependant, block) = (queue(), Work(), BlockOperation {})
      block.cancel()
      dependant.addDependency(block)
      let foundation = OperationQueue()
      foundation.addOperation(block)
      try await queue.submit(dependant)
      try await queue.drain()
      #expect(dependant.outcome?.cancelReason == .dependency)
    }

    @Test func cancellingAllEndsDependantsWithTheReasonOfTheCancellation() async throws {
      let (queue, gate) = (queue(backlog: 20_000), Gate())
      let first = Work(at: gate)
      try await onThread {
        try queue.submitBlocking(first)
        var last = first
        for number in 0..<20_000 {
          let dependant = Work()
          dependant.addDependency(number % 2 == 0 ? first : last)
          try queue.submitBlocking(dependant)
          last = dependant
        }
      }
      let cancelled = queue.cancelAll(reason: .shutdown)
      #expect(cancelled.waiting.count == 20_000)
      #expect(cancelled.waiting.allSatisfy { $0.outcome?.cancelReason == .shutdown })
      #expect(first.snapshot().neededBy == 0)
      gate.open()
      try await queue.drain()
      #expect(queue.counters.addUp && queue.counters.cancelledForDependencies == 0)
    }

    @Test func aLongChainIsCancelledWithoutRecursion() async throws {
      let (queue, gate) = (queue(backlog: 20_000), Gate())
      let failing = Work { _ in
        gate.pass()
        throw Deliberate()
      }
      try await onThread {
        try queue.submitBlocking(failing)
        var last = failing
        for _ in 0..<20_000 {
          let dependant = Work()
          dependant.addDependency(last)
          try queue.submitBlocking(dependant)
          last = dependant
        }
      }
      gate.open()
      try await queue.drain()
      #expect(queue.counters.cancelledForDependencies == 20_000)
    }

    @Test func aDependencyThatIsAddedTwiceMayFailOnlyIfBothSaySo() async throws {
      let (queue, failing) = (queue(), Work { _ in throw Deliberate() })
      let (needs, copes) = (Work(), Work())
      for allowsFailure in [true, false] { needs.addDependency(failing, allowsFailure: allowsFailure) }
      for allowsFailure in [true, true] { copes.addDependency(failing, allowsFailure: allowsFailure) }
      try await onThread { for operation in [failing, needs, copes] { try queue.submitBlocking(operation) } }
      try await queue.drain()
      #expect(needs.outcome?.cancelReason == .dependency && copes.outcome?.words == "succeeded")
    }

    @Test func anObserverThatADependencyCallsMayNotSubmitToTheQueueOfThatDependency() async throws {
      let (first, second) = (queue(), queue())
      let error = LockedBox<SubmitError?>(nil)
      second.observe { event in
        guard case .ended = event.change else { return }
        do throws(SubmitError) { try first.submitBlocking(Work()) } catch let refused { error.change { $0 = refused } }
      }
      let (failing, dependant) = (Work { _ in throw Deliberate() }, Work())
      let gate = Gate()
      let held = Work { _ in
        gate.pass()
        throw Deliberate()
      }
      dependant.addDependency(held)
      try await onThread {
        try first.submitBlocking(failing)
        try first.submitBlocking(held)
        try second.submitBlocking(dependant)
      }
      gate.open()
      try await first.drain()
      try await second.drain()
      #expect(error.value == .fromOwnWorker)
    }
  }
}

/// Joins results, and copes with missing ones.
private final class Sheet: ResultOperation<[String]>, @unchecked Sendable {
  private var entries: [Dependency<Int>] = []

  init(_ operations: [ResultOperation<Int>]) {
    super.init(title: "sheet")
    entries = operations.map { dependency(on: $0, allowsFailure: true) }
  }

  override func makeResult() throws -> [String] {
    entries.map { entry in (try? entry.value).map { "\($0)" } ?? "\(entry.outcome)" }
  }
}
