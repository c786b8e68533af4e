import Foundation

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

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let status = pthread_key_create(&key, nil)
    precondition(status == 0, "no thread-specific key is left: \(String(cString: strerror(status)))")
    return key
  }()

  static func isCurrent(_ queue: BoundedOperationQueue) -> Bool {
    let wanted = Unmanaged.passUnretained(queue).toOpaque()
    var next = pthread_getspecific(key)
    while let frame = next?.assumingMemoryBound(to: Frame.self).pointee {
      if frame.queue == wanted { return true }
      next = frame.outer
    }
    return false
  }

  /// Marks the thread as working for `queue` during `body`.
  static func with<Result>(_ queue: BoundedOperationQueue?, _ body: () -> Result) -> Result {
    let outer = pthread_getspecific(key)
    var frame = Frame(queue: queue.map { Unmanaged.passUnretained($0).toOpaque() }, outer: outer)
    return withUnsafeMutablePointer(to: &frame) { frame in
      pthread_setspecific(key, frame)
      defer { pthread_setspecific(key, outer) }
      return body()
    }
  }
}
