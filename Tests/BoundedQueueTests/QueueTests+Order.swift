import Foundation
import TestSupport
import Testing

@testable import BoundedQueue

extension QueueTests {
  /// In which order operations start: by priority, and as the bytes that they have announced become free.
  @Suite struct Order {
    /// An operation that announces bytes, and waits at a gate.
    private final class Heavy: BoundedOperation, @unchecked Sendable {
      private let body: @Sendable () throws -> Void

      init(_ bytes: Int, _ body: @escaping @Sendable () throws -> Void) {
        self.body = body
        super.init(title: "heavy", reserving: bytes)
      }

      override func execute() throws { try body() }
    }

    @Test func whatWaitsForAnnouncedBytesTakesNoPlace() async throws {
      let queue = BoundedOperationQueue(
        name: "test", maxConcurrentOperations: 3, budget: MemoryBudget(bytes: 100, largest: 150))
      let gates = (0..<3).map { _ in Gate() }
      let works = zip([60, 60, 150], gates).map { bytes, gate in Heavy(bytes) { gate.pass() } }
      for work in works { try await queue.submit(work) }
      #expect(queue.counters.running == 1 && queue.counters.waiting == 2 && queue.counters.reserved == 60)
      #expect(works[1].snapshot().waitReason == "waits for memory: needs 60 bytes, 40 of 100 bytes free")
      // A small operation waits too. Otherwise small ones could keep the large one waiting for ever.
      let small = Heavy(1) {}
      try await queue.submit(small)
      #expect(queue.counters.running == 1)
      #expect(try await eventually { works[0].isExecuting })
      #expect(works[0].snapshot().bytesReserved == 60 && works[1].snapshot().bytesReserved == 0)
      gates[0].open()
      #expect(try await eventually { queue.counters.running == 1 && works[1].isExecuting })
      #expect(
        works[2].snapshot().waitReason
          == "waits for memory: needs 150 bytes, more than the budget of 100 bytes: it must be the only reservation")
      gates[1].open()
      #expect(try await eventually { works[2].isExecuting && queue.counters.reserved == 150 })
      gates[2].open()
      try await queue.drain()
      #expect(queue.counters.reserved == 0 && queue.counters.peakReserved == 150 && small.outcome?.words == "succeeded")
    }

    @Test func whatIsTooHeavyForTheBudgetIsRefused() async throws {
      let budget = MemoryBudget(bytes: 100)
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1, budget: budget)
      let error = BudgetExceededError(needed: 101, budget: budget)
      await #expect(throws: SubmitError.exceedsBudget(error)) { try await queue.submit(Heavy(101) {}) }
      #expect(queue.counters.submitted == 0)
    }

    @Test func aCancelledOperationGivesItsBytesBack() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 2, budget: MemoryBudget(bytes: 100))
      let gate = Gate()
      let works = [Heavy(80) { gate.pass() }, Heavy(80) {}, Heavy(80) {}]
      for work in works { try await queue.submit(work) }
      works[1].cancel()
      gate.open()
      try await queue.drain()
      #expect(queue.counters.reserved == 0 && queue.counters.succeeded == 2)
    }

    @Test func announcedBytesStayWithinTheBudget() async throws {
      let queue = BoundedOperationQueue(
        name: "test", maxConcurrentOperations: 8, budget: MemoryBudget(bytes: 100, largest: 120))
      let held = LockedBox((now: 0, operations: 0, isBroken: false))
      for number in 0..<3000 {
        let bytes = number % 50 == 0 ? 120 : number % 7 == 0 ? 0 : Int.random(in: 1...100)
        let work = Heavy(bytes) {
          held.change {
            $0.now += bytes
            if bytes > 0 { $0.operations += 1 }
            if $0.now > 100, $0.operations > 1 { $0.isBroken = true }
          }
          if number % 11 == 0 { sched_yield() }
          held.change {
            $0.now -= bytes
            if bytes > 0 { $0.operations -= 1 }
          }
          if number % 13 == 0 { throw Deliberate() }
        }
        try await queue.submit(work)
        if number % 17 == 0 { work.cancel() }
      }
      try await queue.drain()
      #expect(!held.value.isBroken && queue.counters.reserved == 0 && queue.counters.peakReserved <= 120)
    }

    private func order(of priorities: [Operation.QueuePriority]) async throws -> [Int] {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1, backlog: priorities.count + 1)
      let order = LockedBox<[Int]>([])
      let gate = Gate()
      try await queue.submit(Work(at: gate))
      for (number, priority) in priorities.enumerated() {
        let work = Work { _ in order.change { $0.append(number) } }
        work.queuePriority = priority
        try await queue.submit(work)
      }
      gate.open()
      try await queue.drain()
      return order.value
    }

    @Test func higherPrioritiesGoFirst() async throws {
      let order = try await order(of: [.veryLow, .low, .normal, .high, .veryHigh, .normal, .high])
      #expect(order == [4, 3, 6, 2, 5, 1, 0])
    }

    @Test func nothingStarves() async throws {
      let order = try await order(of: [.normal] + Array(repeating: .veryHigh, count: 1500))
      let place = try #require(order.firstIndex(of: 0))
      #expect((900...1001).contains(place))
      let last = try await self.order(of: [.veryLow] + Array(repeating: .normal, count: 1500))
      #expect((900...1001).contains(try #require(last.firstIndex(of: 0))))
    }

    @Test func theLineBehavesLikeASortedArray() {
      var line = PriorityLine<Int>()
      let priorities: [Operation.QueuePriority] = [.veryHigh, .high, .normal, .low, .veryLow]
      var model: [(ticket: PriorityLine<Int>.Ticket, rank: Int, value: Int)] = []
      for step in 0..<10_000 {
        switch Int.random(in: 0..<(step % 2000 < 1200 ? 6 : 12)) {
        case 0..<4:
          let rank = Int.random(in: 0..<5)
          let ticket = line.append(step, priorities[rank])
          model.append((ticket, rank, step))
        case 4, 6:
          let first = line.first
          let popped = line.popFirst()
          #expect(first == popped)
          if let popped { model.removeAll { $0.value == popped } }
        default:
          guard let index = model.indices.randomElement() else { continue }
          let entry = model.remove(at: index)
          #expect(line[entry.ticket] == entry.value && line.remove(entry.ticket) == entry.value)
          #expect(line.remove(entry.ticket) == nil)
        }
        #expect(line.count == model.count && line.isEmpty == model.isEmpty)
      }
      var popped: [Int] = []
      let all = line.prefix(.max)
      while let next = line.popFirst() { popped.append(next) }
      #expect(popped == all && Set(popped) == Set(model.map(\.value)))
      // Of each priority, the order is that of arrival.
      for rank in 0..<5 {
        let values = Set(model.filter { $0.rank == rank }.map(\.value))
        let some = popped.filter { values.contains($0) }
        #expect(some == some.sorted())
      }
    }
  }
}
