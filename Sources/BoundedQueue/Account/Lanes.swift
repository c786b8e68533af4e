import Foundation
import Locking

/// The threads of a queue: one of Foundation's operation queues for each operation that may run at once.
///
/// One operation queue for all would be enough if the system's thread pool grew fast enough. On Linux the pool starts about
/// as many threads as there are processors, and one more per second while they sleep (libdispatch, queue.c), so operations
/// that wait for a disk or a network would not get their threads in time. A serial dispatch queue gets a thread at once.
/// Lanes are created on demand.
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

/// Runs one operation at a time, on a thread that starts at once.
private final class Lane: OperationQueue, @unchecked Sendable {  // adds a constant to a class that is safe
  /// A strong reference: `underlyingQueue` does not retain the queue, but needs it until the last operation has ended.
  private let threads: DispatchQueue

  init(name: String, qos: DispatchQoS) {
    threads = DispatchQueue(label: name, qos: qos)
    super.init()
    self.name = name
    maxConcurrentOperationCount = 1
    underlyingQueue = threads
  }
}
