import BoundedQueue
import Foundation
import TestSupport
import Testing

extension QueueTests {
  @Suite struct Bounds {
    @Test func neverMoreThanMaxRunAndNeverMoreThanBacklogWait() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 2, backlog: 5)
      let running = LockedBox((now: 0, peak: 0))
      try await onThread {
        for _ in 0..<2_000 {
          try queue.submitBlocking(
            Work { _ in
              running.change { count in
                count.now += 1
                count.peak = max(count.peak, count.now)
              }
              for _ in 0..<200 { _ = Int.random(in: 0...9) }
              running.change { $0.now -= 1 }
            })
          let counters = queue.counters
          #expect(counters.waiting <= 5 && counters.running <= 2 && counters.addUp)
        }
        queue.drainBlocking()
      }
      let peak = running.value.peak
      #expect(1 < peak && peak <= 2)
      #expect(queue.counters.peakRunning == peak)
      #expect(queue.counters.peakWaiting <= 5)
      #expect(queue.counters.succeeded == 2_000)
    }

    @Test func theThirdDoesNotStartWhileTwoRun() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 2)
      let gate = Gate()
      try await onThread {
        for _ in 0..<3 { try queue.submitBlocking(Work(at: gate)) }
        gate.awaitArrivals(2)
      }
      #expect(gate.arrived == 2)
      #expect(queue.counters.running == 2)
      #expect(queue.counters.waiting == 1)
      gate.open()
      try await queue.drain()
      #expect(queue.counters.succeeded == 3)
    }

    /// The system's pool would start as many threads as there are processors and one more per second, and 255 at the most.
    @Test(arguments: [ProcessInfo.processInfo.activeProcessorCount + 32, 300])
    func everyPlaceGetsAThreadAtOnce(max: Int) async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: max)
      let gate = Gate()
      try await onThread {
        for _ in 0..<max { try queue.submitBlocking(Work(at: gate)) }
      }
      #expect(try await eventually(within: 15) { gate.arrived == max })
      #expect(queue.counters.peakRunning == max)
      gate.open()
      try await queue.drain()
    }

    @Test func aFullBacklogBlocksTheProducerUntilAPlaceFrees() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1, backlog: 1)
      let gates = [Gate(), Gate(), Gate()]
      try await onThread { for gate in gates.prefix(2) { try queue.submitBlocking(Work(at: gate)) } }
      async let third: Void = onThread { try queue.submitBlocking(Work(at: gates[2])) }
      #expect(try await eventually { queue.counters.blockedProducers == 1 })
      #expect(queue.counters.submitted == 2)
      gates[0].open()
      try await third
      #expect(queue.counters.submitted == 3)
      gates[1].open()
      gates[2].open()
      try await queue.drain()
      #expect(queue.counters.succeeded == 3)
    }

    @Test func theAsyncFormSuspendsUntilAPlaceFrees() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1, backlog: 0)
      let gate = Gate()
      try await queue.submit(Work(at: gate))
      let second = Task { try await queue.submit(Work()) }
      #expect(try await eventually { queue.counters.blockedProducers == 1 })
      gate.open()
      try await second.value
      try await queue.drain()
      #expect(queue.counters.succeeded == 2)
    }

    @Test func trySubmitNeverWaitsAndNeverOvertakesABlockedProducer() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1, backlog: 1)
      let gate = Gate()
      #expect(try queue.trySubmit(Work(at: gate)))
      #expect(try queue.trySubmit(Work()))
      let late = Work()
      #expect(try !queue.trySubmit(late))
      #expect(late.outcome == nil)
      let blocked = Task { try await queue.submit(Work()) }
      #expect(try await eventually { queue.counters.blockedProducers == 1 })
      queue.pause()
      gate.open()
      #expect(try await eventually { queue.counters.running == 0 })
      #expect(try !queue.trySubmit(late), "the blocked producer comes first")
      queue.resume()
      try await blocked.value
      try await queue.drain()
      #expect(try queue.trySubmit(late), "an operation that found no room may be submitted again")
      try await queue.drain()
      #expect(queue.counters.succeeded == 4)
    }

    @Test func operationsOfBlockedProducersRunFirstInFirstOutToo() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1, backlog: 2)
      let order = LockedBox<[Int]>([])
      let gate = Gate()
      try await queue.submit(Work(at: gate))
      var producers: [Task<Void, any Error>] = []
      for number in 0..<12 {
        producers.append(Task { try await queue.submit(Work { _ in order.change { $0.append(number) } }) })
        #expect(try await eventually { queue.counters.waiting + queue.counters.blockedProducers == number + 1 })
      }
      gate.open()
      for producer in producers { try await producer.value }
      try await queue.drain()
      #expect(order.value == Array(0..<12))
    }

    @Test func limitsCanChangeWhileTheQueueRuns() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1, backlog: 1)
      let gate = Gate()
      try await onThread { for _ in 0..<2 { try queue.submitBlocking(Work(at: gate)) } }
      let producers = (0..<3).map { _ in Task { try await queue.submit(Work(at: gate)) } }
      #expect(try await eventually { queue.counters.blockedProducers == 3 })
      queue.changeLimits { $0 = QueueLimits(maxConcurrentOperations: 1, backlog: 3) }
      #expect(queue.counters.waiting == 3 && queue.counters.blockedProducers == 1)
      queue.changeLimits { $0 = QueueLimits(maxConcurrentOperations: 2, backlog: 3) }
      try await onThread { gate.awaitArrivals(2) }
      #expect(queue.counters.running == 2 && queue.counters.waiting == 3 && queue.counters.blockedProducers == 0)
      queue.changeLimits { $0 = QueueLimits(maxConcurrentOperations: 1, backlog: 0) }
      #expect(queue.counters.running == 2, "nothing is stopped")
      gate.open()
      for producer in producers { try await producer.value }
      try await queue.drain()
      #expect(queue.counters.succeeded == 5)
    }

    @Test func aLowerLimitAppliesToTheNextOperations() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 2, backlog: 50)
      let running = LockedBox((now: 0, peak: 0))
      queue.changeLimits { $0.maxConcurrentOperations = 1 }
      try await onThread {
        for _ in 0..<50 {
          try queue.submitBlocking(
            Work { _ in
              running.change { count in
                count.now += 1
                count.peak = max(count.peak, count.now)
              }
              running.change { $0.now -= 1 }
            })
        }
        queue.drainBlocking()
      }
      #expect(running.value.peak == 1)
    }

    @Test func submittingFromAnOperationOfTheQueueIsRefused() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1, backlog: 0)
      let other = BoundedOperationQueue(name: "other", maxConcurrentOperations: 1)
      let errors = LockedBox<[SubmitError?]>([])
      let inner = Work()
      try await onThread {
        try queue.submitBlocking(
          Work { _ in
            do { try queue.submitBlocking(inner) } catch let error as SubmitError { errors.change { $0.append(error) } }
            do { _ = try queue.trySubmit(inner) } catch let error as SubmitError {
              errors.change { $0.append(error) }
            }
            try other.submitBlocking(inner)
          })
        queue.drainBlocking()
        other.drainBlocking()
      }
      #expect(errors.value == [.fromOwnWorker, .fromOwnWorker])
      #expect(inner.outcome?.words == "succeeded", "another queue takes it")
    }

    @Test func anOperationCanBeSubmittedOnlyOnce() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1)
      let work = Work()
      try await queue.submit(work)
      await #expect(throws: SubmitError.alreadySubmitted) { try await queue.submit(work) }
      try await queue.drain()
      await #expect(throws: SubmitError.alreadySubmitted) { try await queue.submit(work) }
      #expect(queue.counters.submitted == 1)
    }
  }
}
