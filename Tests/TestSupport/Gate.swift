import Foundation

/// A door that threads wait at until it is opened, and that tells who has arrived. What a test uses instead of sleeping.
///
/// *Concurrency*: the condition guards both counts.
public final class Gate: @unchecked Sendable {  // `NSCondition` guards the two variables
  private let condition = NSCondition()
  private var isOpen = false
  private var arrivals = 0

  public init() {}

  /// Waits until the gate is open. For threads that may block, such as an operation's.
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

  /// Waits until so many have come to the gate. Not for the cooperative pool: see ``onThread(_:)``.
  public func awaitArrivals(_ count: Int) {
    condition.lock()
    defer { condition.unlock() }
    while arrivals < count { condition.wait() }
  }

  public var arrived: Int {
    condition.lock()
    defer { condition.unlock() }
    return arrivals
  }
}
