import Foundation

/// Holds threads back until it opens. It opens once, for all.
///
/// *Concurrency*: every member may be called from any thread.
final class Gate: @unchecked Sendable {  // the condition guards the flag
  private let condition = NSCondition()
  private var isOpen = false

  func open() {
    condition.withLock {
      isOpen = true
      condition.broadcast()
    }
  }

  /// - Returns: false if it does not open in time.
  @discardableResult
  func wait(_ patience: Patience = .certain) -> Bool { wait(seconds: patience.seconds) }

  /// - Returns: false if it does not open in time.
  func wait(seconds: Double) -> Bool {
    let deadline = Date(timeIntervalSinceNow: seconds)
    return condition.withLock {
      while !isOpen && condition.wait(until: deadline) {}
      return isOpen
    }
  }
}

/// How long to wait for something.
enum Patience {
  /// It happens. The limit only ends a lesson that is broken.
  case certain
  /// It cannot happen as long as the form is wrong, and so every wait costs all of this time.
  case doubtful

  var seconds: Double {
    switch self {
    case .certain: 20
    case .doubtful: 0.1
    }
  }
}
