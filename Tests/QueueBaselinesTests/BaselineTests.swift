import QueueBaselines
import TestSupport
import Testing

/// The baselines have the faults that the comparison attributes to them, and no others.
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

  @Test func theNaiveQueueHoldsEveryPayloadAtOnce() async throws {
    let (gate, alive) = (Gate(), LockedBox(0))
    let queue = NaiveQueue<Int, Payload>(prepare: { _ in Payload(alive) }, work: { _ in gate.pass() })
    let (piled, held, ended) = try await onThread {
      for item in 0..<200 { queue.submit(item) }
      // Dispatch starts a thread for each processor, and slowly more while they block.
      gate.awaitArrivals(1)
      let piled = (queue.counters, alive.value)
      gate.open()
      queue.drain()
      return (piled.0, piled.1, queue.counters)
    }
    #expect(piled.submitted == 200 && piled.waiting + piled.running == 200 && held == 200)
    #expect(piled.waiting > 0 && piled.peakWaiting >= 200 - piled.peakRunning)
    #expect(ended.done == 200 && ended.waiting == 0 && ended.running == 0 && ended.failed == 0)
    // A block may be released just after its group has been notified.
    #expect(try await eventually { alive.value == 0 })
  }

  @Test func theSerialLoopHoldsOnePayloadAtATime() async throws {
    let (alive, most) = (LockedBox(0), LockedBox(0))
    let loop = SerialLoop<Int, Payload>(
      prepare: { _ in Payload(alive) },
      work: { _ in
        let now = alive.value
        most.change { $0 = max($0, now) }
      })
    for item in 0..<50 {
      loop.submit(item)
      #expect(loop.counters.done == item + 1 && loop.counters.running == 0)
    }
    loop.drain()
    let ended = loop.counters
    #expect(most.value == 1 && ended.peakRunning == 1 && ended.peakWaiting == 0 && ended.waiting == 0)
  }

  @Test(arguments: ["naive", "serial"]) func countersAddUpEvenIfItemsFail(kind: String) async throws {
    let prepare: @Sendable (Int) throws -> Int = { item in
      if item % 5 == 0 { throw Deliberate() }
      return item
    }
    let work: @Sendable (Int) throws -> Void = { if $0 % 3 == 0 { throw Deliberate() } }
    let baseline: any Baseline<Int> =
      kind == "naive" ? NaiveQueue(prepare: prepare, work: work) : SerialLoop(prepare: prepare, work: work)
    let (ended, doAlwaysAddUp) = try await onThread {
      var doAddUp = true
      for item in 0..<90 {
        baseline.submit(item)
        let now = baseline.counters
        doAddUp = doAddUp && now.submitted == now.waiting + now.running + now.done + now.failed
      }
      baseline.drain()
      return (baseline.counters, doAddUp)
    }
    // The preparation of 18 of 90 items fails; of the other 72, a third fails.
    #expect(doAlwaysAddUp && ended.submitted == 90 && ended.failed == 18 + 24 && ended.done == 48)
  }
}
