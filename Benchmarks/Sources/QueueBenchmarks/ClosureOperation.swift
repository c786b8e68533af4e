import BoundedQueue
import Foundation
import Measuring
import Synchronization

/// An operation that does what a closure says.
final class ClosureOperation: BoundedOperation, @unchecked Sendable {  // the closure is Sendable, and set once
  private let body: @Sendable (ClosureOperation) throws -> Void

  init(_ body: @escaping @Sendable (ClosureOperation) throws -> Void = { _ in }) {
    self.body = body
    super.init(title: "benchmark")
  }

  override func execute() throws { try body(self) }
}

/// When something happened, written by one thread and read by another after a signal.
final class Moment: Sendable {
  private let value = Atomic<UInt64>(0)
  private let arrived = DispatchSemaphore(value: 0)

  func isNow() {
    value.store(nanoseconds(), ordering: .releasing)
    arrived.signal()
  }

  func wait() -> UInt64 {
    arrived.wait()
    return value.load(ordering: .acquiring)
  }
}

/// So many operations that run until they are cancelled, looking every 20 µs as a decoder does between rows.
struct BusyOperations {
  let operations: [ClosureOperation]
  private let begun = DispatchSemaphore(value: 0)

  init(count: Int) {
    let begun = begun
    operations = (0..<count).map { _ in
      ClosureOperation { operation in
        begun.signal()
        while true {
          try operation.checkCancelled()
          work(nanoseconds: 20_000)
        }
      }
    }
  }

  func waitUntilAllRun() { for _ in operations { begun.wait() } }
}
