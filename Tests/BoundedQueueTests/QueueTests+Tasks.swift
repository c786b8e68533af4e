import Foundation
import MainActorProgram
import TestSupport
import Testing

@testable import BoundedQueue

extension QueueTests {
  /// Operations whose work is a task, and tasks that wait for operations.
  @Suite struct Tasks {
    @TaskLocal private static var name = "none"

    @Test func theWorkOfATaskTakesAPlaceButNoThread() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 500, backlog: 0)
      let gates = LockedBox<[CheckedContinuation<Void, Never>]>([])
      let works = (0..<500).map { number in
        ResultOperation(title: "\(number)") { () async throws -> Int in
          await withCheckedContinuation { continuation in gates.change { $0.append(continuation) } }
          return number
        }
      }
      for work in works { try await queue.submit(work) }
      #expect(try await eventually { gates.value.count == 500 })
      #expect(queue.counters.running == 500 && works[0].isExecuting && !works[0].isFinished)
      #expect(try !queue.trySubmit(Work()))
      for gate in gates.value { gate.resume() }
      try await queue.drain()
      #expect(works.map(\.value) == (0..<500).map { $0 } && queue.counters.peakRunning == 500)
      #expect(works.allSatisfy { $0.isFinished })
    }

    @Test func aProgramOfTheMainActorHasOperationsThatRunElsewhere() async throws {
      let sums = await Sums()
      try await sums.load()
      #expect(await sums.shown == [3, 8, 1])
    }

    @Test func whoCancelsATaskCancelsItsOperationAndGetsOneErrorOnly() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1)
      for _ in 0..<100 {
        let operation = ResultOperation(title: "endless") { () async throws -> Int in
          try await Task.sleep(for: .seconds(1000))
          return 1
        }
        let task = Task { try await queue.result(of: operation) }
        #expect(try await eventually { operation.isExecuting })
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(operation.isCancelled)
      }
      try await queue.drain()
      #expect(try await queue.result(of: ResultOperation(title: "made") { 7 }) == 7)
    }

    @Test func theWorkHasTheTaskLocalValuesOfItsProducerAlsoIfItWaits() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1)
      queue.pause()
      var works: [ResultOperation<String>] = []
      for name in ["a", "b", "c"] {
        let work = ResultOperation(title: name) { () async throws -> String in Self.name }
        try await Self.$name.withValue(name) { try await queue.submit(work) }
        works.append(work)
      }
      queue.resume()
      try await queue.drain()
      #expect(works.map(\.value) == ["a", "b", "c"])
    }

    @Test func cancellingAnOperationCancelsItsTask() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1)
      let begun = LockedBox(false)
      let running = ResultOperation(title: "running") { () async throws -> Int in
        begun.change { $0 = true }
        try await Task.sleep(for: .seconds(1000))
        return 1
      }
      let waiting = ResultOperation(title: "waiting") { () async throws -> Int in
        Issue.record("it ran")
        return 2
      }
      try await queue.submit(running)
      try await queue.submit(waiting)
      #expect(try await eventually { begun.value })
      waiting.cancel(reason: .timeout)
      running.cancel(reason: .pressure)
      await #expect(throws: OperationCancelledError(reason: .pressure)) { try await running.result }
      await #expect(throws: OperationCancelledError(reason: .timeout)) { try await waiting.result }
      try await queue.drain()
      #expect(running.outcome?.words == "cancelled while running, by memory pressure")
      #expect(waiting.outcome?.words == "cancelled while waiting, by its time limit")
      #expect(queue.counters.cancelledWhileWaiting == 1 && queue.counters.cancelledWhileRunning == 1)
    }

    @Test func theWorkOfATaskMayNotSubmitToItsOwnQueue() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1)
      let work = ResultOperation(title: "outer") { () async throws -> Int in
        try await queue.submit(Work())
        return 1
      }
      try await queue.submit(work)
      await #expect(throws: SubmitError.fromOwnWorker) { try await work.result }
    }

    @Test func whatWasNotAcceptedCanBeSubmittedAgain() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1, backlog: 0)
      let gate = Gate()
      try await queue.submit(Work(at: gate))
      let work = ResultOperation(title: "work") { () async throws -> Int in 7 }
      #expect(try !queue.trySubmit(work))
      let waiting = Task { try await queue.submit(work) }
      waiting.cancel()
      await #expect(throws: CancellationError.self) { try await waiting.value }
      gate.open()
      try await queue.submit(work)
      #expect(try await work.result == 7)
    }

    @Test func aResultThrowsTheErrorOfWhatItDependsOn() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1)
      let failing = ResultOperation(title: "failing") { () async throws -> Int in throw Deliberate() }
      let between = ResultOperation(title: "between", after: failing) { $0 + 1 }
      let last = ResultOperation(title: "last", after: between) { (number: Int) async throws -> Int in number + 1 }
      for work in [failing, between, last] { try await queue.submit(work) }
      await #expect(throws: Deliberate.self) { try await last.result }
      #expect(last.snapshot().failedDependency?.error is Deliberate)
      #expect(last.snapshot().failedDependency?.operation.title == "failing")
    }

    @Test func whoWaitsMayBeCancelledAndTheOperationGoesOn() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1)
      let gate = Gate()
      let work = ResultOperation(title: "work") { () -> Int in
        gate.pass()
        return 3
      }
      try await queue.submit(work)
      let waiting = (0..<10).map { _ in Task { try await work.result } }
      let drains = (0..<10).map { _ in Task { try await queue.drain() } }
      for task in waiting[5...] { task.cancel() }
      for task in drains[5...] { task.cancel() }
      for task in waiting[5...] { await #expect(throws: CancellationError.self) { try await task.value } }
      for task in drains[5...] { await #expect(throws: CancellationError.self) { try await task.value } }
      gate.open()
      for task in waiting[..<5] { #expect(try await task.value == 3) }
      for task in drains[..<5] { try await task.value }
      #expect(try await work.result == 3, "also after the end")
    }

    @Test func aQueueOfItsOwnHasNothingLeftToDo() async throws {
      let ran = LockedBox(0)
      let sum = try await withBoundedQueue(maxConcurrentOperations: 2) { queue in
        for _ in 0..<20 { try await queue.submit(Work { _ in ran.change { $0 += 1 } }) }
        return 5
      }
      #expect(sum == 5 && ran.value == 20)
      let held = LockedBox<Work?>(nil)
      await #expect(throws: Deliberate.self) {
        try await withBoundedQueue(maxConcurrentOperations: 1) { queue in
          let started = Gate()
          held.change { $0 = .endless(started) }
          if let work = held.value { try await queue.submit(work) }
          try await onThread { started.pass() }
          throw Deliberate()
        }
      }
      #expect(held.value?.isFinished == true)
    }

    @Test func aCancelledTaskEndsTheQueueOfItsOwn() async throws {
      let works = LockedBox<[Work]>([])
      let task = Task {
        try await withBoundedQueue(maxConcurrentOperations: 1) { queue in
          for _ in 0..<3 {
            let work = Work { work in while true { try work.checkCancelled() } }
            works.change { $0.append(work) }
            try await queue.submit(work)
          }
        }
      }
      #expect(try await eventually { works.value.first?.isExecuting == true && works.value.count == 3 })
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(works.value.allSatisfy { $0.isFinished })
    }

    @Test func eventsComeAsASequenceThatDoesNotSlowTheQueue() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1)
      let all = queue.events()
      let few = queue.events(bufferingNewest: 2)
      for _ in 0..<10 { try await queue.submit(Work()) }
      try await queue.drain()
      var ended = 0
      for await event in all {
        if case .ended = event.change { ended += 1 }
        if ended == 10 { break }
      }
      var last: [QueueEvent] = []
      for await event in few {
        last.append(event)
        if last.count == 2 { break }
      }
      if case .ended = last[1].change {} else { Issue.record("the newest is missing") }
    }

    /// Each step of a life is interrupted by a cancellation at a random moment; each operation ends once.
    @Test func cancellationsAtRandomMomentsLeaveNothingBehind() async throws {
      for round in 0..<300 {
        let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 2, backlog: 2)
        let works = (0..<20).map { number in
          ResultOperation(title: "\(number)") { () async throws -> Int in
            for _ in 0..<Int.random(in: 0..<4) { await Task.yield() }
            try Task.checkCancellation()
            return number
          }
        }
        let producers = works.map { work in Task { try await queue.submit(work) } }
        let waiters = works.map { work in Task { try await work.result } }
        for number in (0..<20).shuffled().prefix(10) {
          switch Int.random(in: 0..<3) {
          case 0: producers[number].cancel()
          case 1: works[number].cancel()
          default: waiters[number].cancel()
          }
          await Task.yield()
        }
        if round.isMultiple(of: 7) { queue.stop(reason: .shutdown) }
        var accepted = 0
        for (producer, work) in zip(producers, works) {
          do {
            try await producer.value
            accepted += 1
            try await work.waitForEnd()
            #expect(work.isFinished)
          } catch {
            #expect(work.outcome == nil)
          }
        }
        for waiter in waiters { waiter.cancel() }
        try await queue.drain()
        let counters = queue.counters
        #expect(counters.submitted == accepted && counters.running + counters.waiting == 0)
        #expect(
          counters.succeeded + counters.failed + counters.cancelledWhileRunning + counters.cancelledWhileWaiting
            == accepted)
      }
    }
  }
}
