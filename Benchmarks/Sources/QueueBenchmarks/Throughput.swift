import BoundedQueue
import Foundation
import Measuring

/// Empty operations through a queue: what the queue itself costs.
struct Throughput: Benchmark {
  private let name: String
  /// Takes `count` through a queue, `max` at once, and returns when all are through.
  private let pass: @Sendable (_ count: Int, _ max: Int) -> Void

  private static let count = 50_000

  static let all = [
    Throughput(name: "BoundedOperationQueue") { count, max in
      let queue = BoundedOperationQueue(name: "benchmark", maxConcurrentOperations: max)
      for _ in 0..<count {
        do { try queue.submitBlocking(ClosureOperation()) } catch { fatalError("the queue is open: \(error)") }
      }
      queue.drainBlocking()
    },
    Throughput(name: "BoundedOperationQueue, async operations") { count, max in
      inTask {
        let queue = BoundedOperationQueue(name: "benchmark", maxConcurrentOperations: max)
        do {
          for _ in 0..<count {
            try await queue.submit(ResultOperation(title: "benchmark") { () async throws -> Void in })
          }
          try await queue.drain()
        } catch {
          fatalError("the queue is open: \(error)")
        }
      }
    },
    Throughput(name: "BoundedOperationQueue, a chain: each depends on the one before") { count, max in
      let queue = BoundedOperationQueue(name: "benchmark", maxConcurrentOperations: max)
      var last: ClosureOperation?
      for _ in 0..<count {
        let operation = ClosureOperation()
        if let last { operation.addDependency(last) }
        do { try queue.submitBlocking(operation) } catch { fatalError("the queue is open: \(error)") }
        last = operation
      }
      queue.drainBlocking()
    },
    Throughput(name: "BoundedOperationQueue, fans: each hundredth depends on the 99 before") { count, max in
      let queue = BoundedOperationQueue(name: "benchmark", maxConcurrentOperations: max)
      var fan: [ClosureOperation] = []
      for number in 1...count {
        let operation = ClosureOperation()
        if number % 100 == 0 {
          for dependency in fan { operation.addDependency(dependency) }
          fan = []
        } else {
          fan.append(operation)
        }
        do { try queue.submitBlocking(operation) } catch { fatalError("the queue is open: \(error)") }
      }
      queue.drainBlocking()
    },
    Throughput(name: "task group with a window: bounded, nothing else") { count, max in
      inTask {
        await withTaskGroup(of: Void.self) { group in
          for number in 0..<count {
            if number >= 5 * max { await group.next() }
            group.addTask {}
          }
        }
      }
    },
    Throughput(name: "OperationQueue and a semaphore: bounded") { count, max in
      let (queue, places) = (OperationQueue(), DispatchSemaphore(value: 5 * max))
      queue.maxConcurrentOperationCount = max
      for _ in 0..<count {
        places.wait()
        queue.addOperation(BlockOperation { places.signal() })
      }
      queue.waitUntilAllOperationsAreFinished()
    },
    Throughput(name: "OperationQueue, no bound on what waits") { count, max in
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = max
      for _ in 0..<count { queue.addOperation(Operation()) }
      queue.waitUntilAllOperationsAreFinished()
    },
    Throughput(name: "GCD global queue, no bound at all") { count, _ in
      let group = DispatchGroup()
      for _ in 0..<count { DispatchQueue.global().async(group: group) {} }
      group.wait()
    },
    Throughput(name: "GCD and a semaphore: bounded, nothing else") { count, max in
      let (group, places) = (DispatchGroup(), DispatchSemaphore(value: 5 * max))
      for _ in 0..<count {
        places.wait()
        DispatchQueue.global().async(group: group) { places.signal() }
      }
      group.wait()
    },
  ]

  func run(max: Int, into measured: inout Measurements) {
    let (start, processor) = (nanoseconds(), processorTime())
    pass(Self.count, max)
    measured.add(
      rate: Double(Self.count) * 1e9 / Double(nanoseconds() - start),
      processor: (processorTime() - processor) / Double(Self.count), of: name)
  }

  /// Runs it in a task of its own, and waits for its end. A task of the main thread would go there at each `await`.
  private static func inTask(_ body: @escaping @Sendable () async -> Void) {
    let ended = DispatchSemaphore(value: 0)
    Task.detached {
      await body()
      ended.signal()
    }
    ended.wait()
  }

  /// The processor time of this process so far, in nanoseconds.
  private func processorTime() -> Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    func nanoseconds(_ time: timeval) -> Double { Double(time.tv_sec) * 1e9 + Double(time.tv_usec) * 1e3 }
    return nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime)
  }
}
