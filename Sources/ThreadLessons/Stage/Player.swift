import Locking

/// A thread of a lesson.
///
/// It is no block on a global queue, because several lessons occupy these queues.
struct Player: Sendable {
  /// Opens when the thread is done.
  let end = Gate()

  /// - Parameter body: called on the new thread.
  init(_ name: String, _ body: @escaping @Sendable () -> Void) {
    let hasStarted = startThread(name: name) { [end] in
      body()
      end.open()
    }
    precondition(hasStarted, "the system gives no thread")
  }
}
