import Foundation
import TestSupport
import Testing

@testable import BoundedQueue

extension QueueTests {
  @Suite struct Cancelling {
    @Test func aWaitingOperationEndsAtOnceWithoutRunning() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1)
      let gate = Gate()
      let waiting = Work { _ in Issue.record("it ran") }
      try await queue.submit(Work(at: gate))
      try await queue.submit(waiting)
      #expect(queue.cancel(id: waiting.id, reason: .user))
      #expect(waiting.outcome?.words == "cancelled while waiting, by the user")
      #expect(waiting.isFinished && waiting.isCancelled)
      #expect(queue.counters.waiting == 0, "its place is free although the one before it still runs")
      #expect(!queue.cancel(id: waiting.id, reason: .user))
      gate.open()
      try await queue.drain()
      #expect(queue.counters.cancelledWhileWaiting == 1 && queue.counters.succeeded == 1)
    }

    @Test func whoeverWaitsForFoundationsEndFindsTheOutcome() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1, backlog: 2)
      let foundation = OperationQueue()
      for round in 0..<2000 {
        let gate = Gate()
        let work = Work()
        try await queue.submit(Work(at: gate))
        try await queue.submit(work)
        let found = LockedBox<[Outcome?]>([])
        let dependant = BlockOperation { found.change { $0.append(work.outcome) } }
        dependant.addDependency(work)
        foundation.addOperation(dependant)
        async let waited: Void = onThread {
          work.waitUntilFinished()
          found.change { $0.append(work.outcome) }
        }
        // Half of them while they wait, half of them perhaps as they start.
        if round.isMultiple(of: 2) { work.cancel() }
        gate.open()
        work.cancel()
        try await waited
        try await queue.drain()
        try await onThread { dependant.waitUntilFinished() }
        #expect(found.value.count == 2 && found.value.allSatisfy { $0 != nil }, "round \(round)")
      }
    }

    @Test func aRunningOperationEndsWhenItsWorkChecksForCancellation() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1)
      let started = Gate()
      let work = Work.endless(started)
      try await queue.submit(work)
      try await onThread { started.pass() }
      #expect(work.cancel(reason: .timeout))
      try await queue.drain()
      #expect(work.outcome?.words == "cancelled while running, by its time limit")
      #expect(!work.cancel(reason: .user), "it has ended")
      #expect(queue.counters.cancelledWhileRunning == 1)
    }

    @Test func theFirstCancelReasonIsKept() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1)
      let gate = Gate()
      let work = Work("stubborn") { work in
        gate.pass()
        try work.checkCancelled()
      }
      try await queue.submit(work)
      try await onThread { gate.awaitArrivals(1) }
      work.cancel(reason: .pressure)
      work.cancel()
      #expect(work.description.contains("being cancelled by memory pressure"))
      gate.open()
      try await queue.drain()
      #expect(work.outcome?.cancelReason == .pressure)
    }

    @Test func workThatCompletesDespiteCancellationHasSucceeded() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1)
      let gate = Gate()
      let work = Work(at: gate)
      try await queue.submit(work)
      try await onThread { gate.awaitArrivals(1) }
      work.cancel()
      gate.open()
      try await queue.drain()
      #expect(work.outcome?.words == "succeeded")
    }

    @Test func cancelAllEndsWaitingOperationsStopsRunningOnesAndRefusesProducers() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1, backlog: 2)
      let started = Gate()
      let works = [Work.endless(started), Work(), Work()]
      let blocked = Work()
      try await onThread { for work in works { try queue.submitBlocking(work) } }
      try await onThread { started.pass() }
      let producer = Task { try await queue.submit(blocked) }
      let thread = Task { try await onThread { try queue.submitBlocking(Work()) } }
      #expect(try await eventually { queue.counters.blockedProducers == 2 })
      let cancelled = queue.cancelAll(reason: .pressure)
      #expect(cancelled.waiting.map(\.id) == works.dropFirst().map(\.id))
      #expect(cancelled.running.map(\.id) == [works[0].id])
      await #expect(throws: SubmitError.cancelled(.pressure)) { try await producer.value }
      await #expect(throws: SubmitError.cancelled(.pressure)) { try await thread.value }
      try await queue.drain()
      #expect(works.map { $0.outcome?.cancelReason } == [.pressure, .pressure, .pressure])
      #expect(blocked.outcome == nil, "the queue never accepted it")
      try await queue.submit(blocked)
      try await queue.drain()
      #expect(blocked.outcome?.words == "succeeded")
      #expect(queue.counters.submitted == 4 && queue.counters.addUp)
    }

    @Test func cancellingAPausedQueueEmptiesIt() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1, backlog: 10)
      queue.pause()
      try await onThread { for _ in 0..<10 { try queue.submitBlocking(Work()) } }
      queue.cancelAll(reason: .user)
      try await queue.drain()
      #expect(queue.counters.cancelledWhileWaiting == 10)
    }

    @Test func closingRefusesProducersAndFinishesWaitingOperations() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1, backlog: 1)
      let gate = Gate()
      try await onThread { for _ in 0..<2 { try queue.submitBlocking(Work(at: gate)) } }
      let producer = Task { try await queue.submit(Work()) }
      #expect(try await eventually { queue.counters.blockedProducers == 1 })
      queue.close()
      await #expect(throws: SubmitError.closed) { try await producer.value }
      await #expect(throws: SubmitError.closed) { try await queue.submit(Work()) }
      gate.open()
      try await queue.drain()
      #expect(queue.counters.succeeded == 2)
    }

    @Test func stoppingCanLetRunningOperationsFinish() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1)
      let gate = Gate()
      let running = Work(at: gate)
      let waiting = Work()
      try await queue.submit(running)
      try await queue.submit(waiting)
      try await onThread { gate.awaitArrivals(1) }
      let cancelled = queue.stop(reason: .shutdown, sparingRunning: true)
      #expect(cancelled.waiting.count == 1 && cancelled.running.isEmpty)
      await #expect(throws: SubmitError.closed) { try await queue.submit(Work()) }
      gate.open()
      try await queue.drain()
      #expect(running.outcome?.words == "succeeded" && !running.isCancelled)
      #expect(waiting.outcome?.words == "cancelled while waiting, by shutdown")
    }

    @Test func anOperationCancelledBeforeItIsSubmittedNeedsNoPlace() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1, backlog: 0)
      let gate = Gate()
      try await queue.submit(Work(at: gate))
      let work = Work()
      work.cancel()
      try await queue.submit(work)
      #expect(work.outcome?.words == "cancelled while waiting, by the user")
      #expect(queue.counters.submitted == 2 && queue.counters.cancelled == 1)
      gate.open()
      try await queue.drain()
    }

    @Test func cancellingTheOperationOfABlockedProducerReleasesIt() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1, backlog: 0)
      let gate = Gate()
      try await queue.submit(Work(at: gate))
      let work = Work()
      let producer = Task { try await queue.submit(work) }
      #expect(try await eventually { queue.counters.blockedProducers == 1 })
      work.cancel()
      try await producer.value
      #expect(work.outcome?.cancelReason == .user)
      gate.open()
      try await queue.drain()
      #expect(queue.counters.submitted == 2 && queue.counters.addUp)
    }

    @Test func cancellingTheProducersTaskWithdrawsIt() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1, backlog: 0)
      let gate = Gate()
      try await queue.submit(Work(at: gate))
      let work = Work()
      let producer = Task { try await queue.submit(work) }
      #expect(try await eventually { queue.counters.blockedProducers == 1 })
      producer.cancel()
      await #expect(throws: CancellationError.self) { try await producer.value }
      #expect(queue.counters.blockedProducers == 0 && work.outcome == nil)
      gate.open()
      try await queue.submit(work)
      try await queue.drain()
      #expect(work.outcome?.words == "succeeded")
    }

    @Test func cancellingATaskLeavesTheSameOperationOfAnotherProducerAlone() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1, backlog: 0)
      let gate = Gate()
      try await queue.submit(Work(at: gate))
      let work = Work()
      async let owner: Void = onThread { try queue.submitBlocking(work) }
      #expect(try await eventually { queue.counters.blockedProducers == 1 })
      for _ in 0..<100 {
        let stranger = Task { try await queue.submit(work) }
        stranger.cancel()
        _ = try? await stranger.value
      }
      #expect(queue.counters.blockedProducers == 1)
      gate.open()
      try await owner
      try await queue.drain()
      #expect(work.outcome?.words == "succeeded")
    }

    /// An operation refused by one queue may be in another by the time a cancellation reaches the first.
    @Test func aQueueDoesNotKnowTheOperationsOfAnother() {
      var (first, second) = (
        Account(limits: QueueLimits(maxConcurrentOperations: 1, backlog: 2)),
        Account(limits: QueueLimits(maxConcurrentOperations: 1, backlog: 2))
      )
      _ = (first.pause(.user), second.pause(.user))
      let (bystander, wanderer) = (Work(), Work())
      _ = first.admit(bystander, orBlock: nil)
      _ = second.admit(wanderer, orBlock: nil)
      #expect(first.withdraw(wanderer).withdrawn.isEmpty)
      #expect(first.counters.waiting == 1 && second.withdraw(wanderer).withdrawn.count == 1)
    }

    @Test func anErrorIsAFailureAndStopsNothing() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1)
      let bad = Work { _ in throw Deliberate() }
      let good = Work()
      try await onThread { for work in [bad, good] { try queue.submitBlocking(work) } }
      try await queue.drain()
      #expect(bad.outcome?.words == "failed: deliberate")
      #expect(good.outcome?.words == "succeeded")
      #expect(queue.counters.failed == 1 && queue.counters.succeeded == 1)
    }

    @Test func anOperationEndsWithoutAQueueToo() async throws {
      let (ran, cancelled) = (Work(), Work())
      cancelled.cancel(reason: .shutdown)
      try await onThread {
        ran.start()
        cancelled.start()
      }
      #expect(ran.outcome?.words == "succeeded")
      #expect(cancelled.outcome?.words == "cancelled while waiting, by shutdown")
      let foundation = OperationQueue()
      let queued = Work()
      foundation.addOperation(queued)
      try await onThread { foundation.waitUntilAllOperationsAreFinished() }
      #expect(queued.outcome?.words == "succeeded")
    }

    /// Producers, readers, cancellations and pauses run concurrently; in the end every operation has ended exactly once.
    @Test(arguments: 0..<6) func nothingIsLostOrCountedTwiceInAnyInterleaving(seed: Int) async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 2 + seed % 2, backlog: seed)
      let ended = LockedBox<[Int: Int]>([:])
      let refused = LockedBox(0)
      queue.observe { event in
        guard case .ended = event.change else { return }
        ended.change { $0[event.operation.id, default: 0] += 1 }
      }
      let perProducer = 400
      let works = LockedBox<[Work]>([])
      try await withThrowingTaskGroup(of: Void.self) { group in
        for producer in 0..<4 {
          group.addTask {
            try await onThread {
              for number in 0..<perProducer {
                let work = Work { work in
                  for _ in 0..<Int.random(in: 0..<50) { try work.checkCancelled() }
                  if number % 7 == 0 { throw Deliberate() }
                }
                works.change { $0.append(work) }
                do {
                  if producer == 0, try queue.trySubmit(work) { continue }
                  try queue.submitBlocking(work)
                } catch SubmitError.cancelled {
                  refused.change { $0 += 1 }
                }
              }
            }
          }
        }
        group.addTask {
          for _ in 0..<perProducer {
            let work = Work()
            works.change { $0.append(work) }
            do { try await queue.submit(work) } catch SubmitError.cancelled { refused.change { $0 += 1 } }
          }
        }
        group.addTask {
          try await onThread {
            for round in 0..<300 {
              #expect(queue.counters.addUp)
              let snapshot = queue.snapshot(waitingLimit: 3)
              #expect(snapshot.running.count <= 4 && snapshot.waiting.count <= 3)
              if let one = snapshot.waiting.last ?? snapshot.running.first { queue.cancel(id: one.id, reason: .user) }
              if round % 50 == 0 { queue.cancelAll(reason: .pressure) }
              if round % 20 == 0 { queue.pause() }
              queue.changeLimits { $0 = QueueLimits(maxConcurrentOperations: 1 + round % 4, backlog: round % 9) }
              queue.resume()
            }
          }
        }
        try await group.waitForAll()
      }
      try await queue.drain()
      let counters = queue.counters
      #expect(counters.submitted + refused.value == 5 * perProducer)
      #expect(counters.ended == counters.submitted && counters.addUp)
      #expect(ended.value.count == counters.submitted && ended.value.values.allSatisfy { $0 == 1 })
      #expect(works.value.count { $0.outcome != nil } == counters.submitted)
    }
  }
}
