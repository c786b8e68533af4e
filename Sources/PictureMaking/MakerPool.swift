import AccessRecording
import Locking
import Thumbnails

/// Idle makers, so that the next operation gets one with warm buffers, filters and profiles.
package final class MakerPool: Sendable {
  /// The most idle makers. The number is small, because no reservation covers their memory.
  private static let capacity = 4

  /// A maker, which one operation at a time has.
  private final class Loan: Sendable {
    let maker = Shared(ThumbnailMaker())
  }

  /// Guards the list. A maker that is not in it belongs to one operation.
  private let idle = Locked<[Loan]>([])

  package init() {}

  /// Lends a maker to `body`: an idle one, or a new one if there is none.
  package func withMaker<Result, Failure: Error>(
    _ body: (ThumbnailMaker) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let loan = idle.withLock { $0.popLast() } ?? Loan()
    defer {
      loan.maker.handOver()
      idle.withLock { if $0.count < Self.capacity { $0.append(loan) } }
    }
    return try loan.maker.modify { (maker) throws(Failure) in try body(maker) }
  }

  package func removeIdle() {
    // Their buffers are released after the lock.
    _ = idle.withLock { idle in
      defer { idle = [] }
      return idle
    }
  }
}
