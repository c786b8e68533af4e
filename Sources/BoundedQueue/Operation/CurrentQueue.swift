import Locking

/// The queues that the current thread works for: the thread runs an operation of one, or notifies its observers, and the end
/// of that operation may start the same for another queue.
///
/// A thread-specific pointer holds them, because `OperationQueue.current` creates a `Thread` object and searches a
/// dictionary.
enum CurrentQueue {
  /// A frame of the thread's stack that works for a queue.
  private struct Frame {
    let queue: UnsafeMutableRawPointer?
    let outer: UnsafeMutableRawPointer?
  }

  /// The innermost frame.
  private static let innermost = ThreadPointer()

  /// The queues for which the current task works.
  @TaskLocal private static var ofTask: [ObjectIdentifier] = []

  /// Marks the task, and those that it makes, as working for `queue` during `body`.
  static func with<Result>(_ queue: BoundedOperationQueue?, _ body: () async throws -> Result) async throws -> Result {
    guard let queue else { return try await body() }
    return try await $ofTask.withValue(ofTask + [ObjectIdentifier(queue)]) { try await body() }
  }

  static func isCurrent(_ queue: BoundedOperationQueue) -> Bool {
    if ofTask.contains(ObjectIdentifier(queue)) { return true }
    let wanted = Unmanaged.passUnretained(queue).toOpaque()
    var next = innermost.value
    while let frame = next?.assumingMemoryBound(to: Frame.self).pointee {
      if frame.queue == wanted { return true }
      next = frame.outer
    }
    return false
  }

  /// Marks the thread as working for `queue` during `body`.
  static func with<Result>(_ queue: BoundedOperationQueue?, _ body: () -> Result) -> Result {
    let outer = innermost.value
    var frame = Frame(queue: queue.map { Unmanaged.passUnretained($0).toOpaque() }, outer: outer)
    return withUnsafeMutablePointer(to: &frame) { frame in
      innermost.value = UnsafeMutableRawPointer(frame)
      defer { innermost.value = outer }
      return body()
    }
  }
}
