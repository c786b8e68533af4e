import Foundation

/// The queue that the current thread works for: the thread runs one of its operations or notifies its observers.
///
/// A thread-specific pointer holds it, because `OperationQueue.current` creates a `Thread` object and searches a
/// dictionary.
enum CurrentQueue {
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let status = pthread_key_create(&key, nil)
    precondition(status == 0, "no thread-specific key is left: \(String(cString: strerror(status)))")
    return key
  }()

  static func isCurrent(_ queue: BoundedOperationQueue) -> Bool {
    pthread_getspecific(key) == UnsafeMutableRawPointer(Unmanaged.passUnretained(queue).toOpaque())
  }

  /// Marks the thread as working for `queue` during `body`.
  static func with<Result>(_ queue: BoundedOperationQueue?, _ body: () -> Result) -> Result {
    let outer = pthread_getspecific(key)
    pthread_setspecific(key, queue.map { Unmanaged.passUnretained($0).toOpaque() })
    defer { pthread_setspecific(key, outer) }
    return body()
  }
}
