import BoundedQueue
import Foundation
import Measuring

/// Sixteen operations that sleep a second each, with room for all at once: how fast a queue gets threads for work that
/// waits.
struct SleepingOperations: Benchmark {
  private static let count = 16

  private let name: String
  /// Runs all, and returns when they have ended.
  private let run: @Sendable () -> Void

  static let all = [
    SleepingOperations(name: "16 that sleep 1 s: OperationQueue") {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = count
      for _ in 0..<count { queue.addOperation { sleep(1) } }
      queue.waitUntilAllOperationsAreFinished()
    },
    SleepingOperations(name: "16 that sleep 1 s: BoundedOperationQueue") {
      let queue = BoundedOperationQueue(name: "benchmark", maxConcurrentOperations: count)
      for _ in 0..<count {
        do { try queue.submitBlocking(ClosureOperation { _ in sleep(1) }) } catch {
          fatalError("the queue is open: \(error)")
        }
      }
      queue.drainBlocking()
    },
  ]

  func run(max: Int, into measured: inout Measurements) {
    var latencies = Latencies()
    let start = nanoseconds()
    run()
    latencies.record(nanoseconds: nanoseconds() - start)
    measured.add(latencies, of: name)
  }
}
