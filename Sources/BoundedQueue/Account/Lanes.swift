import Foundation
import Locking

/// The threads of a queue: one of Foundation's operation queues for each operation that may run at once.
///
/// A single operation queue would suffice if the system's thread pool gave every operation a thread at once. On Linux
/// the pool starts about as many threads as there are processors, and one more per second while these sleep
/// (libdispatch, queue.c and event/workqueue.c). Operations that wait for a disk or a network would then not get the
/// places they were promised. A serial dispatch queue gets a thread at once, but none while 255 are busy. So the operations
/// beyond ``mostInPool`` run on threads of our own. Each queue and each thread is made when it is first needed.
final class Lanes: Sendable {
  /// The most operations on threads of the system's pool, which other queues of the process use too.
  private static let mostInPool = 64

  private struct Made {
    var inPool: [Lane] = []
    var beyond: [SerialThread] = []
  }

  private let name: String
  private let qos: DispatchQoS
  private let made = Locked(Made())

  init(name: String, qos: DispatchQoS) {
    self.name = name
    self.qos = qos
  }

  /// Hands an operation to a thread.
  func execute(_ operation: BoundedOperation, in index: Int) {
    if index < Self.mostInPool {
      lane(index).addOperation(operation)
    } else {
      thread(index - Self.mostInPool).async { operation.start() }
    }
  }

  private func lane(_ index: Int) -> Lane {
    made.withLock { made in
      while made.inPool.count <= index { made.inPool.append(Lane(name: "\(name) \(made.inPool.count + 1)", qos: qos)) }
      return made.inPool[index]
    }
  }

  private func thread(_ index: Int) -> SerialThread {
    made.withLock { made in
      while made.beyond.count <= index {
        let name = "\(name) \(Self.mostInPool + made.beyond.count + 1)"
        made.beyond.append(SerialThread(name: name, qos: qos, stack: .ofSystem))
      }
      return made.beyond[index]
    }
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
