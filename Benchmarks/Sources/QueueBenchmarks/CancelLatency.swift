import BoundedQueue
import Foundation
import Measuring

/// From `cancelAll` until nothing waits and nothing runs any more, with `max` running that look every 20 µs.
struct CancelLatency: Benchmark {
  private let waiting: Int

  static let all = [10, 1_000, 100_000].map { CancelLatency(waiting: $0) }

  func run(max: Int, into measured: inout Measurements) {
    var (returned, idle) = (Latencies(), Latencies())
    for _ in 0..<Swift.max(1, 10_000 / waiting) {
      let queue = BoundedOperationQueue(name: "benchmark", maxConcurrentOperations: max, backlog: waiting)
      let busy = BusyOperations(count: max)
      do {
        for operation in busy.operations { try queue.submitBlocking(operation) }
        busy.waitUntilAllRun()
        for _ in 0..<waiting { try queue.submitBlocking(ClosureOperation()) }
      } catch {
        fatalError("the queue is open: \(error)")
      }
      let start = nanoseconds()
      let cancelled = queue.cancelAll(reason: .user)
      returned.record(since: start)
      queue.drainBlocking()
      idle.record(since: start)
      precondition(cancelled.waiting.count == waiting && cancelled.running.count == max, "everything was cancelled")
    }
    let count = waiting.formatted()
    measured.add(returned, of: "cancelAll returns, \(count) waiting")
    measured.add(idle, of: "cancelAll until idle, \(count) waiting")
  }
}
