import JobSettings
import Locking
import Sandbox

/// A pool of helper processes, which is made for the first picture that needs it: many jobs have none.
///
/// *Concurrency*: every member may be called from any thread.
final class LazyPool: Sendable {
  private let program: HelperProgram
  private let fence: HelperPool.Fence
  private let mostIdle: Int
  private let shortfall: OnceTold
  /// Guards the pool.
  private let made = Locked<HelperPool?>(nil)

  /// - Parameters:
  ///   - mostIdle: how many processes wait for a picture at most.
  ///   - shortfall: receives what parts of the fence do not hold.
  init(_ program: HelperProgram, _ isolation: Isolation, mostIdle: Int, _ shortfall: OnceTold) {
    fence =
      switch isolation {
      case .never: .off
      case .auto, .always: .possible
      case .require: .whole
      }
    (self.program, self.mostIdle, self.shortfall) = (program, mostIdle, shortfall)
  }

  /// The pool, if anything has needed it.
  var ifStarted: HelperPool? { made.withLock { $0 } }

  /// - Throws: ``SandboxError`` if its program is not there.
  func started() throws(SandboxError) -> HelperPool {
    try made.withLock { pool throws(SandboxError) in
      if let pool { return pool }
      let fresh = HelperPool(try program.locate(), fence: fence, mostIdle: mostIdle) { [shortfall] report in
        if let text = report.shortfall { shortfall.tell(text) }
      }
      pool = fresh
      return fresh
    }
  }
}

/// Passes on the first of several texts.
final class OnceTold: Sendable {
  private let receive: @Sendable (String) -> Void
  private let isTold = Locked(false)

  init(_ receive: @escaping @Sendable (String) -> Void) { self.receive = receive }

  func tell(_ text: String) {
    let isFirst = isTold.withLock { isTold in
      defer { isTold = true }
      return !isTold
    }
    if isFirst { receive(text) }
  }
}
