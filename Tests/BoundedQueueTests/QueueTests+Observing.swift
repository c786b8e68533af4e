import BoundedQueue
import Foundation
import TestSupport
import Testing

extension QueueTests {
  @Suite struct Observing {
    @Test func aSnapshotListsRunningAndWaitingOperationsInOrder() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1, backlog: 3)
      let gate = Gate()
      let first = Work("copy a.jpg") { work in
        work.report(stage: "reading")
        work.reportProgress(0.434)
        try work.withReservation(of: 3 << 19) { gate.pass() }
      }
      try await queue.submit(first)
      for name in ["b.jpg", "c.jpg", "d.jpg"] { try await queue.submit(Work("copy \(name)")) }
      try await onThread { gate.awaitArrivals(1) }
      let snapshot = queue.snapshot(waitingLimit: 2)
      #expect(snapshot.running.map(\.title) == ["copy a.jpg"])
      #expect(snapshot.waiting.map(\.title) == ["copy b.jpg", "copy c.jpg"])
      #expect(snapshot.counters.waiting == 3)
      let running = snapshot.running[0]
      #expect(running.stage == "reading" && running.fraction == 0.434 && running.bytesReserved == 3 << 19)
      #expect(first.description.hasPrefix("#\(first.id) copy a.jpg: running, reading 43 %, "))
      #expect(first.description.hasSuffix(" s, holds up to 1.5 MiB"))
      #expect(snapshot.waiting[0].waitReason == "the only place is taken")
      #expect(snapshot.waiting[0].description.hasSuffix(" s, the only place is taken"))
      queue.pause()
      #expect(queue.snapshot().waiting[0].waitReason == "the queue is paused by the user")
      queue.resume()
      gate.open()
      try await queue.drain()
      #expect(queue.snapshot().running.isEmpty)
      #expect(first.description.hasPrefix("#\(first.id) copy a.jpg: succeeded, ran "))
    }

    @Test func observersReceiveEveryChangeOfAnOperationInOrder() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 2, backlog: 4)
      let received = LockedBox<[Int: [String]]>([:])
      queue.observe { event in
        let word =
          switch event.change {
          case .waiting: "waiting"
          case .started: "started"
          case .stage(let stage): stage
          case .ended(let outcome): outcome.words
          }
        received.change { $0[event.operation.id, default: []].append(word) }
      }
      try await onThread {
        for number in 0..<2_000 {
          try queue.submitBlocking(
            Work { work in
              work.report(stage: "one")
              work.report(stage: "one")
              work.report(stage: "two")
              if number % 2 == 1 { throw Deliberate() }
            })
        }
        queue.drainBlocking()
      }
      let lives = Set(received.value.values)
      #expect(received.value.count == 2_000)
      #expect(
        lives == [
          ["waiting", "started", "one", "two", "succeeded"],
          ["waiting", "started", "one", "two", "failed: deliberate"],
        ])
    }

    @Test func drainReturnsAfterObserversHaveReceivedEveryEnd() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 2, backlog: 100)
      let ends = LockedBox(0)
      queue.observe { event in
        guard case .ended = event.change else { return }
        usleep(500)
        ends.change { $0 += 1 }
      }
      try await onThread {
        for _ in 0..<60 { try queue.submitBlocking(Work()) }
        queue.cancelAll(reason: .user)
        queue.drainBlocking()
        #expect(ends.value == 60)
      }
    }

    @Test func aSlowObserverKeepsThePlaceSoThatEventsDoNotPileUp() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1, backlog: 1)
      let gate = Gate()
      queue.observe { event in if case .ended = event.change { gate.pass() } }
      // The producer's thread may deliver the end, if the work finishes before the acceptance is delivered.
      async let submitting: Void = onThread { try queue.submitBlocking(Work()) }
      try await onThread { gate.awaitArrivals(1) }
      #expect(queue.counters.running == 1)
      #expect(try queue.trySubmit(Work()))
      #expect(try !queue.trySubmit(Work()))
      gate.open()
      try await submitting
      try await queue.drain()
    }

    /// The acceptance may be delivered after the work has begun on another thread.
    @Test func eventTimesFollowTheOrderOfDelivery() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 2, backlog: 4)
      let instants = LockedBox<[Int: [ContinuousClock.Instant]]>([:])
      queue.observe { event in instants.change { $0[event.operation.id, default: []].append(event.instant) } }
      try await onThread { for _ in 0..<5_000 { try queue.submitBlocking(Work()) } }
      try await queue.drain()
      #expect(instants.value.count == 5_000)
      #expect(instants.value.values.allSatisfy { $0.count == 3 && $0 == $0.sorted() })
    }

    @Test func anObserverMayInspectCancelAndUnregisterButNotSubmit() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1, backlog: 5)
      let refused = LockedBox(0)
      let started = LockedBox(0)
      let own = LockedBox<QueueObservation?>(nil)
      let observation = queue.observe { event in
        guard case .started = event.change else { return }
        started.change { $0 += 1 }
        _ = queue.snapshot()
        if let next = queue.snapshot().waiting.first { queue.cancel(id: next.id, reason: .user) }
        do { _ = try queue.trySubmit(Work()) } catch { refused.change { $0 += 1 } }
        own.value?.cancel()
      }
      own.change { $0 = observation }
      queue.pause()
      try await onThread { for _ in 0..<4 { try queue.submitBlocking(Work()) } }
      queue.resume()
      try await queue.drain()
      #expect(refused.value == 1 && started.value == 1)
      #expect(queue.counters.succeeded == 3 && queue.counters.cancelled == 1)
    }

    @Test func aQueuePausedForTwoReasonsResumesOnlyAfterBoth() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1)
      queue.pause(.user)
      queue.pause(.pressure)
      let work = Work()
      try await onThread { try queue.submitBlocking(work) }
      queue.resume(.user)
      #expect(queue.snapshot().pauses == .pressure && queue.counters.running == 0)
      #expect(queue.snapshot(of: work.id)?.waitReason == "the queue is paused by memory pressure")
      queue.pause(.user)
      queue.resume(.pressure)
      #expect(queue.snapshot().pauses == .user && queue.counters.running == 0)
      queue.resume(.user)
      try await queue.drain()
      #expect(work.outcome?.words == "succeeded" && queue.snapshot(of: work.id) == nil)
    }

    @Test func waitingOperationsAreListedPageByPage() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1, backlog: 10)
      queue.pause()
      try await onThread { for _ in 0..<9 { try queue.submitBlocking(Work()) } }
      let all = queue.snapshot().waiting.map(\.id)
      #expect(queue.snapshot(waitingLimit: 4, waitingAfter: all[2]).waiting.map(\.id) == Array(all[3...6]))
      #expect(queue.snapshot(waitingAfter: all[8]).waiting.isEmpty)
      queue.cancelAll(reason: .user)
    }

    @Test func pagesFollowEachOtherWhateverTheOrderOfSubmission() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1, backlog: 10)
      queue.pause()
      let works = (0..<10).map { _ in Work() }
      try await onThread { for work in works.reversed() { try queue.submitBlocking(work) } }
      var ids: [Int] = []
      while case let page = queue.snapshot(waitingLimit: 3, waitingAfter: ids.last ?? 0).waiting.map(\.id),
        !page.isEmpty
      {
        ids += page
      }
      #expect(ids == works.map(\.id))
      queue.cancelAll(reason: .user)
    }

    @Test func observersCanBeAddedAndRemovedWhileTheQueueRuns() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 2, backlog: 4)
      async let submitting: Void = onThread { for _ in 0..<3_000 { try queue.submitBlocking(Work()) } }
      try await onThread {
        for _ in 0..<500 {
          let observation = queue.observe { _ in }
          observation.cancel()
          observation.cancel()
        }
      }
      try await submitting
      try await queue.drain()
      #expect(queue.counters.succeeded == 3_000)
    }

    @Test func endedOperationsAreReleased() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 2, backlog: 8)
      let remembered = try await onThread {
        var remembered: [Weak] = []
        for _ in 0..<100 {
          let work = Work()
          remembered.append(Weak(work))
          try queue.submitBlocking(work)
        }
        queue.drainBlocking()
        return remembered
      }
      // Foundation's thread releases an operation a moment after its work has ended.
      #expect(try await eventually { remembered.allSatisfy { $0.work == nil } })
      #expect(queue.snapshot().running.isEmpty && queue.snapshot().waiting.isEmpty)
    }
  }
}

private final class Weak: @unchecked Sendable {  // a weak reference is read and cleared atomically by the runtime
  weak var work: Work?

  init(_ work: Work) { self.work = work }
}
