import Foundation

/// A gate where threads wait until it is opened, and which counts them. Tests use it instead of sleeping.
///
/// *Concurrency*: the condition guards both variables.
public final class Gate: @unchecked Sendable {  // `NSCondition` guards the two variables
  private let condition = NSCondition()
  private var isOpen = false
  private var arrivals = 0

  public init() {}

  /// Waits until the gate is open. Only for threads that may block, such as those of operations.
  public func pass() {
    condition.lock()
    defer { condition.unlock() }
    arrivals += 1
    condition.broadcast()
    while !isOpen { condition.wait() }
  }

  public func open() {
    condition.lock()
    defer { condition.unlock() }
    isOpen = true
    condition.broadcast()
  }

  /// Waits until this many threads have arrived. Not for threads of Swift's pool: see ``onThread(_:)``.
  public func awaitArrivals(_ count: Int) {
    condition.lock()
    defer { condition.unlock() }
    while arrivals < count { condition.wait() }
  }

  /// The number of threads that have arrived, including those that have passed.
  public var arrived: Int {
    condition.lock()
    defer { condition.unlock() }
    return arrivals
  }
}
