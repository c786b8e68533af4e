import Foundation
import Locking

/// The threads of a queue: one of Foundation's operation queues for each operation that may run at once.
///
/// One operation queue for all would do where the system's thread pool kept up with it. On Linux the pool starts about as
/// many threads as there are processors, and one more a second while they sleep (libdispatch, queue.c), so that operations
/// which wait for a disk or a network would not get the places they are promised. A serial dispatch queue is given a
/// thread at once. None is made before it is needed.
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

/// Runs one operation at a time, on a thread that is there at once.
private final class Lane: OperationQueue, @unchecked Sendable {  // adds a constant to a class that is safe
  /// Kept here because `underlyingQueue` does not keep it, and needs it until the last operation has left.
  private let threads: DispatchQueue

  init(name: String, qos: DispatchQoS) {
    threads = DispatchQueue(label: name, qos: qos)
    super.init()
    self.name = name
    maxConcurrentOperationCount = 1
    underlyingQueue = threads
  }
}
