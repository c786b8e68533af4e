import Foundation

/// A pointer that each thread has for itself; nil at first.
package struct ThreadPointer: Sendable {
  private let key: pthread_key_t

  package init() {
    var key = pthread_key_t()
    let status = pthread_key_create(&key, nil)
    precondition(status == 0, "no thread-specific key is left: \(String(cString: strerror(status)))")
    self.key = key
  }

  /// The pointer of the current thread.
  package var value: UnsafeMutableRawPointer? {
    get { pthread_getspecific(key) }
    nonmutating set { pthread_setspecific(key, newValue) }
  }
}
