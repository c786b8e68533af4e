import Dispatch

/// The accessors of an atomic property on an own concurrent queue.
enum PropertyOnAConcurrentQueue: Lesson {
  static let name = "property-on-a-concurrent-queue"
  static let claim =
    "A concurrent queue guards a property only if its setter is a barrier; `sync` alone lets two setters in at "
    + "once."
  static let today = "True; neither compiler nor sanitizer sees that a queue is concurrent until two setters meet."
  static let file = #fileID

  static func wrong() -> Outcome {
    let queue = DispatchQueue(label: "property", attributes: .concurrent)
    return setters(.certain) { body in queue.sync(execute: body) }
  }

  static func right() -> Outcome {
    let queue = DispatchQueue(label: "property", attributes: .concurrent)
    return setters(.doubtful) { body in queue.sync(flags: .barrier, execute: body) }
  }

  /// Whether two setters are in at once.
  private static func setters(_ patience: Patience, set: @escaping @Sendable (() -> Void) -> Void) -> Outcome {
    let areBothIn = Meanwhile.isReached(patience, whileIn: set) { isIn in set { isIn.open() } }
    return Outcome(isFaulty: areBothIn, "\(areBothIn ? 2 : 1) of 2 setters are in at once")
  }
}
