import Foundation
import QueueBaselines
import TestSupport
import Testing

/// The baselines have the faults that a comparison shows, and no others.
@Suite(.serialized, .timeLimit(.minutes(5))) struct BaselineTests {
  private struct Deliberate: Error {}

  /// A payload that counts its live instances.
  private final class Payload: Sendable {
    private let alive: LockedBox<Int>

    init(_ alive: LockedBox<Int>) {
      self.alive = alive
      alive.change { $0 += 1 }
    }

    deinit { alive.change { $0 -= 1 } }
  }

  enum Kind: CaseIterable {
    case globalQueue, globalQueueOfItems, oneSerialQueue, semaphore, operationQueue, taskGroup, windowedTaskGroup,
      serial

    static let limit = 3

    /// Whether a producer can hand on all items before the first one is done.
    var isUnbounded: Bool {
      switch self {
      case .globalQueue, .globalQueueOfItems, .oneSerialQueue, .operationQueue, .taskGroup: true
      case .semaphore, .windowedTaskGroup, .serial: false
      }
    }

    func make<Item, Payload>(_ work: CountedWork<Item, Payload>) -> any Baseline<Item> {
      switch self {
      case .globalQueue: GlobalQueue(work)
      case .globalQueueOfItems: GlobalQueueOfItems(work)
      case .oneSerialQueue: OneSerialQueue(work)
      case .semaphore: SemaphoreQueue(work, limit: Self.limit)
      case .operationQueue: PlainOperationQueue(work, limit: Self.limit)
      case .taskGroup: TaskGroupOfItems(work)
      case .windowedTaskGroup: WindowedTaskGroup(work, limit: Self.limit)
      case .serial: SerialLoop(work)
      }
    }
  }

  /// Yields until the condition holds.
  ///
  /// - Parameter limit: gives up after this time.
  private static func yield(within limit: Duration = .seconds(60), until condition: () -> Bool) {
    let end = ContinuousClock.now + limit
    while !condition(), .now < end { sched_yield() }
  }

  @Test(arguments: Kind.allCases) func everyItemIsProcessedOnceAndFailuresAreCounted(kind: Kind) async throws {
    let seen = LockedBox<[Int]>([])
    let work = CountedWork(
      prepare: { (item: Int) throws -> Int in
        if item % 5 == 0 { throw Deliberate() }
        return item
      },
      finish: { payload in
        if payload % 3 == 0 { throw Deliberate() }
        seen.change { $0.append(payload) }
      })
    let baseline = kind.make(work)
    try await onThread { baseline.run(Array(0..<90)) }
    let ended = work.counters
    #expect(seen.value.sorted() == (0..<90).filter { $0 % 5 != 0 && $0 % 3 != 0 })
    // The preparation of 18 of 90 items fails; of the other 72, a third fails.
    #expect(ended.submitted == 90 && ended.failed == 18 + 24 && ended.done == 48)
    #expect(ended.waiting == 0 && ended.running == 0 && ended.peakRunning > 0)
  }

  /// No item is done before the producer has handed on all.
  @Test(arguments: Kind.allCases.filter(\.isUnbounded)) func anUnboundedProducerNeverWaits(kind: Kind) async throws {
    let (alive, most) = (LockedBox(0), LockedBox(0))
    let box = LockedBox<CountedWork<Int, Payload>?>(nil)
    let work = CountedWork(
      prepare: { (_: Int) in Payload(alive) },
      finish: { (_: Payload) in
        Self.yield { box.value?.counters.submitted == 200 }
        most.change { $0 = max($0, alive.value) }
      })
    box.change { $0 = work }
    let baseline = kind.make(work)
    try await onThread { baseline.run(Array(0..<200)) }
    box.change { $0 = nil }
    let ended = work.counters
    #expect(ended.done == 200 && ended.peakWaiting + ended.peakRunning >= 200, "\(ended)")
    #expect(baseline.traits.waitingBound == nil)
    switch baseline.traits.held {
    case .payload: #expect(most.value == 200)
    case .item: #expect(most.value <= ended.peakRunning)
    case .nothing: Issue.record("something waited")
    }
    // A block may be released just after its group has been notified.
    #expect(try await eventually { alive.value == 0 })
  }

  @Test(arguments: Kind.allCases.filter { !$0.isUnbounded }) func aBoundHolds(kind: Kind) async throws {
    let box = LockedBox<CountedWork<Int, Int>?>(nil)
    let work = CountedWork(
      prepare: { (item: Int) in item },
      finish: { (item: Int) in
        // Time in which a producer that does not wait would hand on more than it may.
        if item == 0 { Self.yield(within: .milliseconds(50)) { box.value?.counters.submitted ?? 0 > 2 * Kind.limit } }
      })
    box.change { $0 = work }
    let baseline = kind.make(work)
    try await onThread { baseline.run(Array(0..<200)) }
    box.change { $0 = nil }
    let (ended, bound) = (work.counters, try #require(baseline.traits.waitingBound))
    #expect(ended.done == 200 && ended.peakWaiting <= bound && ended.peakRunning <= max(bound, 1))
  }

  @Test func theSerialLoopHoldsOnePayloadAtATime() async throws {
    let (alive, most) = (LockedBox(0), LockedBox(0))
    let work = CountedWork(
      prepare: { (_: Int) in Payload(alive) },
      finish: { (_: Payload) in most.change { $0 = max($0, alive.value) } })
    try await onThread { SerialLoop(work).run(Array(0..<50)) }
    #expect(most.value == 1 && work.counters.peakRunning == 1 && work.counters.peakWaiting == 0)
  }

  /// The first item that begins tells the producer to stop and cancels, once all have been handed on if that is possible.
  @Test(arguments: Kind.allCases) func whatWaitsIsDroppedWhereItCanBeCancelled(kind: Kind) async throws {
    let (box, listed) = (LockedBox<(any Baseline<Int>)?>(nil), LockedBox<[String]?>(nil))
    let (started, begun, isOver) = (LockedBox<CountedWork<Int, Int>?>(nil), LockedBox(0), LockedBox(false))
    let work = CountedWork(
      prepare: { (item: Int) in item },
      finish: { (_: Int) in
        if kind.isUnbounded { Self.yield { started.value?.counters.submitted == 200 } }
        let number = begun.change { count in
          count += 1
          return count
        }
        // Those that have begun end only after the cancellation.
        guard number == 1 else { return Self.yield { isOver.value } }
        listed.change { $0 = box.value?.list() }
        started.value?.stop()
        box.value?.cancel()
        isOver.change { $0 = true }
      })
    let baseline = kind.make(work)
    started.change { $0 = work }
    box.change { $0 = baseline }
    try await onThread { baseline.run(Array(0..<200)) }
    started.change { $0 = nil }
    box.change { $0 = nil }
    let ended = work.counters
    switch kind {
    case .globalQueue, .globalQueueOfItems, .oneSerialQueue: #expect(ended.done == 200)
    case .operationQueue, .taskGroup: #expect(ended.done < 100 && ended.waiting == 200 - ended.done)
    case .semaphore, .windowedTaskGroup: #expect(ended.done < 100)
    case .serial: #expect(ended.done == 1)
    }
    #expect((listed.value?.count ?? 0 > 100) == (kind == .operationQueue))
    if kind == .operationQueue { #expect(listed.value?.contains("199") == true) }
  }
}
