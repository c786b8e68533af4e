import Foundation
import Locking

/// The threads of a queue: one of Foundation's operation queues for each operation that may run at once.
///
/// A single operation queue would suffice if the system's thread pool gave every operation a thread at once. On Linux
/// the pool starts about as many threads as there are processors, and one more per second while these sleep
/// (libdispatch, queue.c and event/workqueue.c). Operations that wait for a disk or a network would then not get the
/// places they were promised. A serial dispatch queue gets a thread at once. Each queue is created when it is first
/// needed.
final class Lanes: Sendable {
  private let name: String
  private let qos: DispatchQoS
  private let made = Locked<[Lane]>([])

  init(name: String, qos: DispatchQoS) {
    self.name = name
    self.qos = qos
  }

  /// Hands an operation to a thread.
  func execute(_ operation: BoundedOperation, in index: Int) {
    let lane = made.withLock { made in
      while made.count <= index { made.append(Lane(name: "\(name) \(made.count + 1)", qos: qos)) }
      return made[index]
    }
    lane.addOperation(operation)
  }
}

/// Runs one operation at a time, on a thread that it gets at once.
private final class Lane: OperationQueue, @unchecked Sendable {  // adds only a constant to a thread-safe class
  /// Retained here because `underlyingQueue` does not retain it, and needs it until the last operation has ended.
  private let threads: DispatchQueue

  init(name: String, qos: DispatchQoS) {
    threads = DispatchQueue(label: name, qos: qos)
    super.init()
    self.name = name
    maxConcurrentOperationCount = 1
    underlyingQueue = threads
  }
}
