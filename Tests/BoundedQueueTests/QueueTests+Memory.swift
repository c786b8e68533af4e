import BoundedQueue
import TestSupport
import Testing

extension QueueTests {
  @Suite struct Memory {
    /// Reserves `bytes`, records that in `order`, and waits at the gate.
    private static func holder(_ bytes: Int, at gate: Gate, _ order: LockedBox<[Int]> = LockedBox([])) -> Work {
      Work("hold \(bytes)") { work in
        try work.withReservation(of: bytes) {
          order.change { $0.append(bytes) }
          gate.pass()
        }
      }
    }

    @Test(arguments: [
      (200, 100, "needs 200 bytes of memory, more than the 100 bytes that"),
      (1025, 1024, "needs 1.1 KiB of memory, more than the 1 KiB that"),
      (60_000, 50_000, "needs 58.6 KiB of memory, more than the 48.8 KiB that"),
      (3 << 20 + 1, 3 << 20, "needs 3.1 MiB of memory, more than the 3 MiB that"),
    ])
    func aNeedIsShownAsMoreThanTheBudget(needed: Int, bytes: Int, text: String) {
      let error = BudgetExceededError(needed: needed, budget: MemoryBudget(bytes: bytes))
      #expect(error.description == "\(text) one operation may hold")
    }

    @Test func anOperationWaitsUntilItsBytesAreFreeAndSaysSo() async throws {
      let queue = BoundedOperationQueue(
        name: "test", maxConcurrentOperations: 2, budget: MemoryBudget(bytes: 256 << 20))
      let (first, second) = (Gate(), Gate())
      try await queue.submit(Self.holder(216 << 20, at: first))
      #expect(try await eventually { first.arrived == 1 })
      let waiting = Self.holder(72 << 20, at: second)
      try await queue.submit(waiting)
      #expect(try await eventually { queue.counters.waitingForMemory == 1 })
      #expect(waiting.description.hasSuffix(", waits for memory: needs 72 MiB, 40 of 256 MiB free"))
      #expect(queue.counters.reserved == 216 << 20 && second.arrived == 0)
      first.open()
      #expect(try await eventually { second.arrived == 1 })
      #expect(queue.counters.waitingForMemory == 0 && waiting.description.hasSuffix(", holds up to 72 MiB"))
      second.open()
      try await queue.drain()
      #expect(queue.counters.reserved == 0 && queue.counters.peakReserved == 216 << 20)
      #expect(queue.counters.succeeded == 2)
    }

    @Test func aLargeClaimIsNotPassedOverByASmallOneThatWouldFit() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 3, budget: MemoryBudget(bytes: 100))
      let gate = Gate()
      let order = LockedBox<[Int]>([])
      try await queue.submit(Self.holder(60, at: gate, order))
      #expect(try await eventually { gate.arrived == 1 })
      for (count, bytes) in [90, 20].enumerated() {
        try await queue.submit(Self.holder(bytes, at: gate, order))
        #expect(try await eventually { queue.counters.waitingForMemory == count + 1 })
      }
      #expect(order.value == [60])
      gate.open()
      try await queue.drain()
      #expect(order.value == [60, 90, 20])
    }

    @Test func anOperationLargerThanTheBudgetRunsAloneOrFailsWithFigures() async throws {
      let budget = MemoryBudget(bytes: 100 << 20, largest: 300 << 20)
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 3, budget: budget)
      let (small, large) = (Gate(), Gate())
      try await queue.submit(Self.holder(1, at: small))
      #expect(try await eventually { small.arrived == 1 })
      try await queue.submit(Self.holder(300 << 20, at: large))
      #expect(try await eventually { queue.counters.waitingForMemory == 1 })
      small.open()
      #expect(try await eventually { large.arrived == 1 })
      try await queue.submit(Self.holder(1, at: small))
      #expect(try await eventually { queue.counters.waitingForMemory == 1 })
      large.open()
      let refused = Self.holder(300 << 20 + 1, at: large)
      try await queue.submit(refused)
      try await queue.drain()
      #expect(
        refused.outcome?.words
          == "failed: needs 301 MiB of memory, more than the 300 MiB that one operation may hold")
      #expect(queue.counters.succeeded == 3 && queue.counters.reserved == 0)
    }

    @Test func aCancelledClaimEndsAtOnceAndTheNextIsGranted() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 4, budget: MemoryBudget(bytes: 100))
      let (first, next) = (Gate(), Gate())
      try await queue.submit(Self.holder(60, at: first))
      #expect(try await eventually { first.arrived == 1 })
      let large = Self.holder(90, at: next)
      try await queue.submit(large)
      #expect(try await eventually { queue.counters.waitingForMemory == 1 })
      try await queue.submit(Self.holder(10, at: next))
      #expect(try await eventually { queue.counters.waitingForMemory == 2 })
      large.cancel(reason: .pressure)
      #expect(try await eventually { next.arrived == 1 && large.outcome != nil })
      #expect(large.outcome?.words == "cancelled while running, by memory pressure")
      queue.cancelAll(reason: .user)
      for gate in [first, next] { gate.open() }
      try await queue.drain()
      #expect(queue.counters.reserved == 0 && queue.counters.addUp)
    }

    @Test func cancelAllGrantsNoCancelledOperationTheMemoryOfAnother() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 8, budget: MemoryBudget(bytes: 100))
      let (first, never) = (Gate(), Gate())
      try await queue.submit(Self.holder(60, at: first))
      #expect(try await eventually { first.arrived == 1 })
      for count in 1...6 {
        try await queue.submit(Self.holder(50 - count, at: never))
        #expect(try await eventually { queue.counters.waitingForMemory == count })
      }
      let cancelled = queue.cancelAll(reason: .pressure)
      #expect(cancelled.running.count == 7)
      first.open()
      try await queue.drain()
      #expect(never.arrived == 0 && queue.counters.cancelledWhileRunning == 6)
    }

    @Test func aLargerBudgetGrantsAtOnceAndASmallerOneRefusesClaimsThatNoLongerFit() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 3, budget: MemoryBudget(bytes: 100))
      let gate = Gate()
      try await queue.submit(Self.holder(60, at: gate))
      #expect(try await eventually { gate.arrived == 1 })
      try await queue.submit(Self.holder(80, at: gate))
      #expect(try await eventually { queue.counters.waitingForMemory == 1 })
      queue.changeLimits { $0.budget = MemoryBudget(bytes: 140) }
      #expect(try await eventually { gate.arrived == 2 })
      let third = Self.holder(20, at: gate)
      try await queue.submit(third)
      #expect(try await eventually { queue.counters.waitingForMemory == 1 })
      queue.changeLimits { $0.budget = MemoryBudget(bytes: 10) }
      #expect(try await eventually { third.outcome != nil })
      #expect(third.outcome?.words.hasPrefix("failed: needs ") == true)
      queue.changeLimits { $0.budget = nil }
      gate.open()
      try await queue.drain()
    }

    /// Neither an operation that waits for memory when the queue is stopped, nor one that asks for it later.
    @Test(arguments: [true, false]) func aStoppedQueueThatIsPausedLetsNothingWaitForMemory(isPausedFirst: Bool)
      async throws
    {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 3, budget: MemoryBudget(bytes: 100))
      let (holding, asking, never) = (Gate(), Gate(), Gate())
      try await queue.submit(Self.holder(60, at: holding))
      #expect(try await eventually { holding.arrived == 1 })
      let waiting = Self.holder(90, at: never)
      try await queue.submit(waiting)
      #expect(try await eventually { queue.counters.waitingForMemory == 1 })
      let late = Work { work in
        asking.pass()
        try work.withReservation(of: 1) { never.pass() }
      }
      try await queue.submit(late)
      #expect(try await eventually { asking.arrived == 1 })
      if isPausedFirst { queue.pause() }
      let cancelled = queue.stop(reason: .shutdown, sparingRunning: true)
      #expect(cancelled.running.map(\.id) == (isPausedFirst ? [waiting.id] : []))
      if !isPausedFirst { queue.pause() }
      asking.open()
      holding.open()
      try await queue.drain()
      for work in [waiting, late] { #expect(work.outcome?.words == "cancelled while running, by shutdown") }
      #expect(queue.counters.succeeded == 1 && queue.counters.reserved == 0 && queue.counters.addUp)
    }

    /// It ends by itself.
    @Test func aStoppedQueueWaitsForTheEndOfMemoryPressure() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1, budget: MemoryBudget(bytes: 100))
      let (asking, holding) = (Gate(), Gate())
      let work = Work { work in
        asking.pass()
        try work.withReservation(of: 1) { holding.pass() }
      }
      try await queue.submit(work)
      #expect(try await eventually { asking.arrived == 1 })
      queue.pause(.pressure)
      asking.open()
      #expect(try await eventually { queue.counters.waitingForMemory == 1 })
      #expect(queue.stop(reason: .shutdown, sparingRunning: true).running.isEmpty)
      queue.resume(.pressure)
      holding.open()
      try await queue.drain()
      #expect(work.outcome?.words == "succeeded")
    }

    @Test func aPausedQueueGrantsNoMemory() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 2, budget: MemoryBudget(bytes: 100))
      let (asking, holding) = (Gate(), Gate())
      try await queue.submit(
        Work { work in
          asking.pass()
          try work.withReservation(of: 1) { holding.pass() }
        })
      #expect(try await eventually { asking.arrived == 1 })
      queue.pause()
      asking.open()
      #expect(try await eventually { queue.counters.waitingForMemory == 1 })
      #expect(holding.arrived == 0)
      queue.resume()
      holding.open()
      try await queue.drain()
      #expect(queue.counters.succeeded == 1)
    }

    @Test func anOperationWithoutQueueOrBudgetDoesNotWait() async throws {
      let alone = Work { work in try work.withReservation(of: .max) {} }
      try await onThread { alone.start() }
      #expect(alone.outcome?.words == "succeeded")
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1)
      try await queue.submit(Work { work in try work.withReservation(of: 1 << 40) {} })
      try await queue.drain()
      #expect(queue.counters.succeeded == 1 && queue.counters.peakReserved == 1 << 40)
    }

    /// Random sizes, cancellations, pauses and limit changes, from many threads.
    @Test(arguments: 0..<4) func reservationsNeverExceedTheBudgetInAnyInterleaving(round: Int) async throws {
      let most = MemoryBudget(bytes: 100, largest: 150)
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 4, backlog: 8, budget: most)
      let held = LockedBox((bytes: 0, holders: 0, worst: 0))
      let perProducer = 400
      // Work that holds memory, and records how much all hold together.
      @Sendable func holder(_ bytes: Int, _ body: @escaping @Sendable (Work) throws -> Void) -> Work {
        Work { work in
          try work.withReservation(of: bytes) {
            held.change { held in
              held.bytes += bytes
              held.holders += bytes > 0 ? 1 : 0
              if held.holders > 1 { held.worst = max(held.worst, held.bytes) }
            }
            defer {
              held.change { held in
                held.bytes -= bytes
                held.holders -= bytes > 0 ? 1 : 0
              }
            }
            try body(work)
          }
        }
      }
      // Ensures that two run at once, even on a busy machine.
      let gate = Gate()
      for _ in 0..<2 { try await queue.submit(holder(20) { _ in gate.pass() }) }
      #expect(try await eventually { gate.arrived == 2 })
      gate.open()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<3 {
          group.addTask {
            try await onThread {
              for _ in 0..<perProducer {
                let bytes = Int.random(in: 0..<(Bool.random() ? 40 : 160))
                let spins = Int.random(in: 0..<5_000)
                let work = holder(bytes) { work in for _ in 0..<spins { try work.checkCancelled() } }
                do { try queue.submitBlocking(work) } catch SubmitError.cancelled {}
              }
            }
          }
        }
        group.addTask {
          try await onThread {
            for round in 0..<400 {
              let snapshot = queue.snapshot()
              #expect(snapshot.counters.addUp && snapshot.counters.running <= 6)
              if let one = snapshot.running.randomElement() { queue.cancel(id: one.id, reason: .user) }
              if round % 40 == 0 { queue.cancelAll(reason: .pressure) }
              if round % 10 == 0 { queue.pause() }
              let budget = round % 3 == 0 ? MemoryBudget(bytes: 60, largest: 120) : most
              queue.changeLimits {
                $0 = QueueLimits(maxConcurrentOperations: 2 + round % 5, backlog: round % 9, budget: budget)
              }
              queue.resume()
            }
            queue.changeLimits { $0 = QueueLimits(maxConcurrentOperations: 4, backlog: 8, budget: most) }
          }
        }
        try await group.waitForAll()
      }
      try await queue.drain()
      let counters = queue.counters
      #expect(counters.addUp && counters.ended == counters.submitted && counters.reserved == 0)
      #expect(held.value.worst <= 100 && held.value.bytes == 0 && held.value.worst > 0)
      #expect(counters.peakReserved <= 150 && counters.failed > 0 && counters.succeeded > 0)
    }
  }
}
