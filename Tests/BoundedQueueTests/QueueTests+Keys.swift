import BoundedQueue
import Foundation
import TestSupport
import Testing

extension QueueTests {
  /// Operations with keys, of which only some of each may run at once.
  @Suite struct Keys {
    /// An operation with a key that waits at a gate.
    private func work(_ title: String, key: String?, at gate: Gate) -> ResultOperation<Void> {
      ResultOperation(title: title, key: key) { gate.pass() }
    }

    private func titles(_ operations: [OperationSnapshot]) -> [String] { operations.map(\.title) }

    @Test func operationsWithOtherKeysPassThoseThatWaitForTheirKey() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 3, backlog: 10, perKey: 1)
      let gate = Gate()
      defer { gate.open() }
      for (title, key) in [("a1", "a"), ("a2", "a"), ("a3", "a"), ("b1", "b"), ("free", nil)] {
        try await queue.submit(work(title, key: key, at: gate))
      }
      #expect(titles(queue.snapshot().running) == ["a1", "b1", "free"])
      #expect(titles(queue.snapshot().waiting) == ["a2", "a3"])
      #expect(queue.counters.waitingForKey == 2 && queue.counters.waiting == 2)
      let reason = queue.snapshot().waiting[0].waitReason
      #expect(reason == "waits for others of a: 1 of them may run at once")
      gate.open()
      try await queue.drain()
      #expect(queue.counters.succeeded == 5 && queue.counters.waitingForKey == 0)
    }

    @Test func ofAKeyTheNextStartsWhenOneEndsOrIsCancelled() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 8, backlog: 10, perKey: 2)
      let gates = (0..<5).map { _ in Gate() }
      defer { for gate in gates { gate.open() } }
      let works = gates.enumerated().map { work("\($0)", key: "host", at: $1) }
      for work in works { try await queue.submit(work) }
      #expect(titles(queue.snapshot().running) == ["0", "1"])
      works[2].cancel()
      gates[0].open()
      try await works[0].waitForEnd()
      #expect(try await eventually { titles(queue.snapshot().running) == ["1", "3"] })
      #expect(titles(queue.snapshot().waiting) == ["4"])
      #expect(works[2].outcome?.words == "cancelled while waiting, by the user")
    }

    @Test func theBacklogCountsWhatWaitsForItsKey() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 4, backlog: 1, perKey: 1)
      let gate = Gate()
      defer { gate.open() }
      let waiting = work("waiting", key: "k", at: gate)
      for work in [work("running", key: "k", at: gate), waiting] { try await queue.submit(work) }
      #expect(try !queue.trySubmit(work("refused", key: "k", at: gate)))
      // One that could start at once needs no room.
      #expect(try queue.trySubmit(work("other", key: "l", at: gate)))
      queue.cancelAll(reason: .user)
      // The counter may have more: a thread may not have begun the others yet.
      #expect(queue.counters.waiting == 0 && waiting.outcome?.words == "cancelled while waiting, by the user")
    }

    @Test func theLimitChangesWhileOperationsWait() async throws {
      let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 3, backlog: 20)
      let gates = (0..<9).map { _ in Gate() }
      defer { for gate in gates { gate.open() } }
      for (number, gate) in gates.enumerated() { try await queue.submit(work("\(number)", key: "k", at: gate)) }
      #expect(titles(queue.snapshot().running) == ["0", "1", "2"] && queue.counters.waitingForKey == 0)
      queue.changeLimits { $0.perKey = 2 }
      #expect(queue.counters.waitingForKey == 6)
      for number in 0..<2 { gates[number].open() }
      // Two have ended, and one may start: there may be two of the key.
      #expect(try await eventually { titles(queue.snapshot().running) == ["2", "3"] })
      queue.changeLimits { $0.perKey = nil }
      #expect(try await eventually { titles(queue.snapshot().running) == ["2", "3", "4"] })
      #expect(titles(queue.snapshot().waiting) == ["5", "6", "7", "8"])
      for gate in gates { gate.open() }
      try await queue.drain()
      #expect(queue.counters.succeeded == 9)
    }
  }
}
