import BoundedQueue
import Foundation
import Measuring

/// What a look at the queue costs by how many wait, and what it costs at the most when only a hundred are listed.
struct SnapshotCost: Benchmark {
  private let waiting: Int

  static let all = [10, 1_000, 100_000].map { SnapshotCost(waiting: $0) }

  func run(max: Int, into measured: inout Measurements) {
    let queue = BoundedOperationQueue(name: "benchmark", maxConcurrentOperations: max, backlog: waiting)
    queue.pause()
    do {
      for _ in 0..<waiting { try queue.submitBlocking(ClosureOperation()) }
    } catch {
      fatalError("the queue is open: \(error)")
    }
    var (all, some, counters) = (Latencies(), Latencies(), Latencies())
    for _ in 0..<Swift.max(3, 10_000 / waiting) {
      var start = nanoseconds()
      let snapshot = queue.snapshot()
      all.record(since: start)
      precondition(snapshot.waiting.count == waiting, "all that wait are listed")
      start = nanoseconds()
      precondition(queue.snapshot(waitingLimit: 100).waiting.count == Swift.min(waiting, 100), "the first are listed")
      some.record(since: start)
      start = nanoseconds()
      precondition(queue.counters.waiting == waiting, "all that wait are counted")
      counters.record(since: start)
    }
    queue.cancelAll(reason: .user)
    queue.drainBlocking()
    let count = waiting.formatted()
    measured.add(all, of: "snapshot of all, \(count) waiting")
    measured.add(some, of: "snapshot of the first 100, \(count) waiting")
    measured.add(counters, of: "counters, \(count) waiting")
  }
}
