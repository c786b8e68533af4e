import Locking
import Thumbnails

/// Idle makers, so that the next operation gets one with warm buffers, filters and profiles.
final class MakerPool: Sendable {
  /// The most idle makers. The number is small, because no reservation covers their memory.
  private static let capacity = 4

  private struct Idle: @unchecked Sendable {  // no operation uses a maker that is in the pool
    var makers: [ThumbnailMaker] = []
  }

  /// Guards the list. A maker that is not in it belongs to one operation.
  private let idle = Locked(Idle())

  /// Lends a maker to `body`: an idle one, or a new one if there is none.
  func withMaker<Result>(_ body: (ThumbnailMaker) throws -> Result) rethrows -> Result {
    let loan = idle.withLock { Idle(makers: $0.makers.popLast().map { [$0] } ?? []) }
    let maker = loan.makers.first ?? ThumbnailMaker()
    defer {
      let returned = Idle(makers: [maker])
      idle.withLock { if $0.makers.count < Self.capacity { $0.makers += returned.makers } }
    }
    return try body(maker)
  }

  func removeIdle() { idle.withLock { $0.makers = [] } }
}
