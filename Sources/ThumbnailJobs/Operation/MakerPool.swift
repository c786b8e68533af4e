import Locking
import Thumbnails

/// Makers that are not in use, so that an operation finds one with its buffers, filters and profiles warm.
final class MakerPool: Sendable {
  /// No more are kept, however many operations run at once: what they keep counts in no budget.
  private static let most = 4

  private struct Idle: @unchecked Sendable {  // a maker in the pool is used by nobody
    var makers: [ThumbnailMaker] = []
  }

  /// Guards the list; a maker taken out belongs to the taker alone.
  private let idle = Locked(Idle())

  /// Lends a maker to `body`.
  func withMaker<Result>(_ body: (ThumbnailMaker) throws -> Result) rethrows -> Result {
    let loan = idle.withLock { Idle(makers: $0.makers.popLast().map { [$0] } ?? []) }
    let maker = loan.makers.first ?? ThumbnailMaker()
    defer {
      let returned = Idle(makers: [maker])
      idle.withLock { if $0.makers.count < Self.most { $0.makers += returned.makers } }
    }
    return try body(maker)
  }

  /// Lets go of the makers that nobody uses.
  func trim() { idle.withLock { $0.makers = [] } }
}
