import Foundation
import Synchronization

/// The INT or TERM that ends the process.
///
/// *Concurrency*: only the signal thread calls ``take(_:)``; any thread may ask for the number.
final class EndingSignal: Sendable {
  enum Step {
    case first
    /// The first one again.
    case same
    /// A further one, which ends the process at once.
    case second
  }

  /// A TERM that follows the first one within a second is the same: who signals all processes of a group, as schedulers
  /// and timeout(1) do, also signals the script that passes the signal on. A second INT (Ctrl-C) is meant.
  private static let sameMoment = UInt64(1_000_000_000)

  private let first = Atomic<CInt>(0)
  /// When it came, in nanoseconds of a clock that never goes back. Only the signal thread uses it.
  private let time = Atomic<UInt64>(0)

  /// 0 before.
  var number: CInt { first.load(ordering: .acquiring) }

  func take(_ signal: CInt) -> Step {
    let now = DispatchTime.now().uptimeNanoseconds
    if number != 0 {
      return signal == SIGTERM && now - time.load(ordering: .relaxed) < Self.sameMoment ? .same : .second
    }
    time.store(now, ordering: .relaxed)
    first.store(signal, ordering: .releasing)
    return .first
  }
}
