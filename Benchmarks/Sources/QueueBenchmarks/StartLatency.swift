import BoundedQueue
import Foundation
import Measuring

/// From handing one over to its first instruction, on a queue with nothing else to do: a thread has to wake.
struct StartLatency: Benchmark {
  private let name: String
  /// Takes one at a time through a queue; each says when it begins.
  private let begin: @Sendable (_ max: Int) -> (@Sendable (Moment) -> Void)

  private static let count = 5_000

  static let all = [
    StartLatency(name: "to start: BoundedOperationQueue") { max in
      let queue = BoundedOperationQueue(name: "benchmark", maxConcurrentOperations: max)
      return { moment in
        let operation = ClosureOperation { _ in moment.isNow() }
        do { try queue.submitBlocking(operation) } catch { fatalError("the queue is open: \(error)") }
      }
    },
    StartLatency(name: "to start: OperationQueue") { max in
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = max
      return { moment in queue.addOperation { moment.isNow() } }
    },
    StartLatency(name: "to start: GCD global queue") { _ in
      { moment in DispatchQueue.global().async { moment.isNow() } }
    },
  ]

  func run(max: Int, into measured: inout Measurements) {
    var latencies = Latencies()
    let submit = begin(max)
    for _ in 0..<Self.count {
      let moment = Moment()
      let start = nanoseconds()
      submit(moment)
      latencies.record(nanoseconds: moment.wait() - start)
    }
    measured.add(latencies, of: name)
  }
}
