import BoundedQueue
import Foundation
import TestSupport
import Testing

extension QueueTests {
  @Suite struct Dependencies {
    private func queue(max: Int = 2, backlog: Int = 100) -> BoundedOperationQueue {
      BoundedOperationQueue(name: "test", maxConcurrentOperations: max, backlog: backlog)
    }

    // MARK: Order and places

    @Test func aDependantStartsAfterItsDependenciesAndTakesNoPlaceMeanwhile() async throws {
      let (queue, gate) = (queue(), Gate())
      let (first, second, dependant) = (Work("first", at: gate), Work("second"), Work("dependant"))
      dependant.addDependency(first)
      dependant.addDependency(second)
      let others = (0..<20).map { _ in Work() }
      try await onThread {
        for operation in [first, second, dependant] + others { try queue.submitBlocking(operation) }
        gate.awaitArrivals(1)
      }
      // One of the two places is free for all others, although the dependant was submitted before them.
      #expect(try await eventually { queue.counters.succeeded == 21 })
      #expect(queue.counters.waiting == 1 && queue.counters.waitingForDependencies == 1)
      #expect(dependant.snapshot().waitsFor.map(\.id) == [first.id])
      #expect(dependant.description.contains("waits for #\(first.id)"))
      #expect(first.snapshot().neededBy == 1)
      gate.open()
      try await queue.drain()
      #expect(queue.counters.succeeded == 23 && queue.counters.waitingForDependencies == 0)
      #expect(dependant.dependencies.isEmpty)
    }

    @Test func aSnapshotNamesTheFirstOfManyDependencies() async throws {
      let queue = queue(backlog: 200)
      queue.pause(.user)
      let (work, dependant) = ((0..<150).map { _ in Work() }, Work("dependant"))
      for operation in work { dependant.addDependency(operation) }
      for operation in work + [dependant] { #expect(try queue.trySubmit(operation)) }
      #expect(work[0].dependants.map(\.title) == ["dependant"])
      let snapshot = dependant.snapshot()
      #expect(snapshot.waitsFor.map(\.id) == work.prefix(OperationSnapshot.waitsForLimit).map(\.id))
      #expect(snapshot.waitsForCount == 150)
      let first = work.prefix(3).map { "#\($0.id)" }.joined(separator: ", ")
      #expect(snapshot.waitReason == "waits for \(first) and 147 more")
      #expect(snapshot.description.hasSuffix(", waits for \(first) and 147 more"))
      // Observers receive its end while it still has the dependencies, but it waits for nothing any more.
      let atEnd = LockedBox<[Int]>([])
      let observation = queue.observe { event in
        guard case .ended = event.change else { return }
        let snapshot = event.operation.snapshot()
        atEnd.change { $0.append(snapshot.waitsFor.count + snapshot.waitsForCount) }
      }
      #expect(queue.cancel(id: dependant.id, reason: .user))
      #expect(atEnd.value == [0])
      observation.cancel()
      queue.resume(.user)
      try await queue.drain()
    }

    @Test func aBacklogFullOfDependantsBlocksProducers() async throws {
      let (queue, gate) = (queue(max: 1, backlog: 2), Gate())
      let first = Work(at: gate)
      let dependants = (0..<3).map { _ in Work() }
      for dependant in dependants { dependant.addDependency(first) }
      try await onThread { for operation in [first] + dependants.prefix(2) { try queue.submitBlocking(operation) } }
      #expect(try !queue.trySubmit(dependants[2]))
      async let third: Void = onThread { try queue.submitBlocking(dependants[2]) }
      #expect(try await eventually { queue.counters.blockedProducers == 1 })
      gate.open()
      try await third
      try await queue.drain()
      #expect(queue.counters.succeeded == 4 && queue.counters.peakWaiting == 2)
    }

    @Test func withoutABacklogTheProducerOfADependantWaitsForItsDependencies() async throws {
      let (queue, gate) = (queue(max: 2, backlog: 0), Gate())
      let (first, dependant) = (Work(at: gate), Work())
      dependant.addDependency(first)
      try await onThread { try queue.submitBlocking(first) }
      #expect(try !queue.trySubmit(dependant))
      async let submitted: Void = queue.submit(dependant)
      #expect(try await eventually { queue.counters.blockedProducers == 1 })
      gate.open()
      try await submitted
      try await queue.drain()
      #expect(queue.counters.succeeded == 2)
    }

    @Test func dependenciesMayBelongToAnotherQueueOrBeOfAnotherKind() async throws {
      let (queue, other, foundation) = (queue(), queue(), OperationQueue())
      let gates = [Gate(), Gate()]
      let (elsewhere, dependant) = (Work(at: gates[0]), Work())
      let block = BlockOperation { gates[1].pass() }
      block.name = "a block"
      dependant.addDependency(elsewhere)
      dependant.addDependency(block)
      foundation.addOperation(block)
      try await onThread {
        try other.submitBlocking(elsewhere)
        try queue.submitBlocking(dependant)
      }
      #expect(dependant.description.contains("waits for #\(elsewhere.id) and a block"))
      gates[0].open()
      try await other.drain()
      #expect(try await eventually { dependant.snapshot().waitsFor.map(\.title) == ["a block"] })
      gates[1].open()
      try await queue.drain()
      #expect(queue.counters.succeeded == 1)
    }

    @Test func aDependencyThatHasEndedDelaysNothing() async throws {
      let (queue, first, dependant) = (queue(), Work(), Work())
      dependant.addDependency(first)
      try await queue.submit(first)
      try await queue.drain()
      try await queue.submit(dependant)
      try await queue.drain()
      #expect(queue.counters.succeeded == 2 && queue.counters.peakWaiting == 0)
    }

    @Test func aPausedQueueStartsNoDependant() async throws {
      let (queue, first, dependant) = (queue(), Work(), Work())
      dependant.addDependency(first)
      let other = self.queue()
      queue.pause()
      try await onThread {
        try other.submitBlocking(first)
        try queue.submitBlocking(dependant)
      }
      try await other.drain()
      #expect(try await eventually { queue.counters.waitingForDependencies == 0 })
      #expect(queue.counters.waiting == 1 && queue.counters.running == 0)
      queue.resume()
      try await queue.drain()
      #expect(queue.counters.succeeded == 1)
    }

    // MARK: Refusals

    @Test func anOperationThatIsNotSubmittedCannotBeADependency() async throws {
      let (queue, gate) = (queue(max: 1, backlog: 1), Gate())
      let (new, dependant) = (Work("new"), Work())
      dependant.addDependency(new)
      let refused = "the operation depends on #\(new.id) new, which must be submitted first"
      let error = await #expect(throws: SubmitError.self) { try await queue.submit(dependant) }
      #expect(error?.description == refused)
      // By way of an operation of another kind, too.
      let block = BlockOperation {}
      block.addDependency(new)
      let indirect = Work()
      indirect.addDependency(block)
      #expect(await #expect(throws: SubmitError.self) { try await queue.submit(indirect) }?.description == refused)
      // And while its producer still waits for room, because the producer may give up.
      try await onThread { for _ in 0..<2 { try queue.submitBlocking(Work(at: gate)) } }
      async let blocked: Void = onThread { try queue.submitBlocking(new) }
      #expect(try await eventually { queue.counters.blockedProducers == 1 })
      let other = self.queue()
      #expect(await #expect(throws: SubmitError.self) { try await other.submit(dependant) }?.description == refused)
      gate.open()
      try await blocked
      try await other.submit(dependant)
      try await queue.drain()
      try await other.drain()
      #expect(other.counters.succeeded == 1 && other.counters.submitted == 1)
    }

    @Test func anOperationCannotDependOnItself() async throws {
      let (queue, work, indirect) = (queue(), Work(), Work())
      work.addDependency(work)
      await #expect(throws: SubmitError.dependsOnItself) { try await queue.submit(work) }
      let block = BlockOperation {}
      block.addDependency(indirect)
      indirect.addDependency(block)
      await #expect(throws: SubmitError.dependsOnItself) { try await queue.submit(indirect) }
      indirect.removeDependency(block)
      try await queue.submit(indirect)
      try await queue.drain()
      #expect(queue.counters.succeeded == 1)
    }

    @Test func aRefusedDependantCanBeSubmittedElsewhere() async throws {
      let (closed, queue, gate) = (queue(), queue(), Gate())
      let (first, dependant) = (Work(at: gate), Work())
      dependant.addDependency(first)
      closed.close()
      try await queue.submit(first)
      await #expect(throws: SubmitError.closed) { try await closed.submit(dependant) }
      #expect(first.snapshot().neededBy == 0)
      try await queue.submit(dependant)
      #expect(first.snapshot().neededBy == 1)
      gate.open()
      try await queue.drain()
      #expect(queue.counters.succeeded == 2)
    }

    @Test func aProducerThatGivesUpLeavesItsDependencies() async throws {
      let (queue, gate) = (queue(max: 1, backlog: 0), Gate())
      let (first, dependant) = (Work(at: gate), Work())
      dependant.addDependency(first)
      try await queue.submit(first)
      let producer = Task { try await queue.submit(dependant) }
      #expect(try await eventually { queue.counters.blockedProducers == 1 })
      producer.cancel()
      await #expect(throws: CancellationError.self) { try await producer.value }
      #expect(first.snapshot().neededBy == 0)
      gate.open()
      try await queue.drain()
      try await queue.submit(dependant)
      try await queue.drain()
      #expect(queue.counters.succeeded == 2)
    }

    // MARK: Results

    @Test func twoRequestsAndThenTheNextStep() async throws {
      let queue = queue()
      let profile = ResultOperation(title: "profile") { "Ann" }
      let photos = ResultOperation(title: "photos") { [1, 2, 3] }
      let page = ResultOperation(title: "page", after: profile, photos) { "\($0): \($1.count) photos" }
      for operation in [profile, photos, page] as [BoundedOperation] { try await queue.submit(operation) }
      try await queue.drain()
      #expect(page.value == "Ann: 3 photos")
    }

    @Test func aChainHoldsOnlyWhatIsUnderWay() async throws {
      let queue = queue(max: 2, backlog: 8)
      let alive = LockedBox((now: 0, peak: 0))
      try await onThread {
        var last = Counted(alive, after: nil)
        try queue.submitBlocking(last)
        for _ in 0..<10_000 {
          let next = Counted(alive, after: last)
          try queue.submitBlocking(next)
          last = next
        }
        queue.drainBlocking()
        #expect(last.value == 10_000)
      }
      #expect(alive.value.peak < 20)
      #expect(try await eventually { alive.value.now == 0 })
    }

    @Test func dependantsThatWereCancelledDoNotStayWithTheirDependency() async throws {
      let (queue, gate) = (queue(), Gate())
      let alive = LockedBox((now: 0, peak: 0))
      let first = ResultOperation<Int>(title: "first") {
        gate.pass()
        return 0
      }
      try await onThread {
        try queue.submitBlocking(first)
        for _ in 0..<1_000 {
          let dependant = Counted(alive, after: first)
          try queue.submitBlocking(dependant)
          dependant.cancel()
        }
      }
      #expect(try await eventually { alive.value.now == 0 })
      gate.open()
      try await queue.drain()
    }

    @Test func aLongChainThatWasNeverSubmittedIsReleasedWithoutRecursion() {
      let alive = LockedBox((now: 0, peak: 0))
      do {
        var last = Counted(alive, after: nil)
        for _ in 0..<50_000 { last = Counted(alive, after: last) }
        #expect(alive.value.now == 50_001 && last.value == nil)
      }
      #expect(alive.value.now == 0)
    }

    /// The observer runs on a thread of the queue whose operation has ended: it could wait for itself.
    // MARK: Listing

    @Test func pagesOfTheListHaveEveryWaitingOperationOnce() async throws {
      let (queue, gates) = (queue(max: 1), [Gate(), Gate()])
      let other = self.queue()
      let (elsewhere, running) = (Work(at: gates[0]), Work(at: gates[1]))
      let waiting = (0..<10).map { _ in Work() }
      for dependant in waiting.prefix(5) { dependant.addDependency(elsewhere) }
      try await onThread {
        try other.submitBlocking(elsewhere)
        for operation in [running] + waiting { try queue.submitBlocking(operation) }
      }
      func listed() -> [Int] {
        var ids: [Int] = []
        while case let page = queue.snapshot(waitingLimit: 3, waitingAfter: ids.last ?? 0).waiting, !page.isEmpty {
          ids += page.map(\.id)
        }
        return ids
      }
      #expect(listed() == waiting.map(\.id))
      // The dependants may start now. They have joined the waiting line last, but the list is sorted by id.
      gates[0].open()
      #expect(try await eventually { queue.counters.waitingForDependencies == 0 })
      #expect(listed() == waiting.map(\.id))
      gates[1].open()
      try await queue.drain()
    }
  }
}

/// Counts one more than the operation before, and how many of its kind are alive.
private final class Counted: ResultOperation<Int>, @unchecked Sendable {
  private let alive: LockedBox<(now: Int, peak: Int)>
  private var before: Dependency<Int>?

  init(_ alive: LockedBox<(now: Int, peak: Int)>, after operation: ResultOperation<Int>?) {
    self.alive = alive
    super.init(title: "counted")
    before = operation.map { dependency(on: $0) }
    alive.change {
      $0.now += 1
      $0.peak = max($0.peak, $0.now)
    }
  }

  deinit { alive.change { $0.now -= 1 } }

  override func makeResult() throws -> Int { try before.map { try $0.value + 1 } ?? 0 }
}
