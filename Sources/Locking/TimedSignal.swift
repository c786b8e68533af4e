import Dispatch
import Foundation

/// A count of signals that threads wait for, each at most for a while.
///
/// It is a semaphore with time limits by the monotonic clock. `DispatchSemaphore` measures them by the clock of the day on
/// Linux (`sem_timedwait(3)`): if that is set back by a day, a wait takes a day longer.
///
/// *Concurrency*: every member may be called from any thread.
public final class TimedSignal: Sendable {
  #if canImport(Glibc)
  private struct Storage {
    var mutex = pthread_mutex_t()
    var condition = pthread_cond_t()
    /// The signals that no thread has taken. Guarded by the mutex.
    var count = 0
  }

  /// On the heap, because a mutex and a condition must not move. Its contents are guarded as said above.
  nonisolated(unsafe) private let storage: UnsafeMutablePointer<Storage>

  public init() {
    storage = .allocate(capacity: 1)
    storage.initialize(to: Storage())
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    defer { pthread_condattr_destroy(&attributes) }
    let status = [
      pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC), pthread_mutex_init(&storage.pointee.mutex, nil),
      pthread_cond_init(&storage.pointee.condition, &attributes),
    ]
    precondition(status.allSatisfy { $0 == 0 }, "a condition cannot be made: \(status)")
  }

  deinit {
    pthread_cond_destroy(&storage.pointee.condition)
    pthread_mutex_destroy(&storage.pointee.mutex)
    storage.deinitialize(count: 1)
    storage.deallocate()
  }

  /// Lets one thread that waits, or the next that will, go on.
  public func signal() {
    pthread_mutex_lock(&storage.pointee.mutex)
    storage.pointee.count += 1
    pthread_cond_signal(&storage.pointee.condition)
    pthread_mutex_unlock(&storage.pointee.mutex)
  }

  /// Waits for a signal, and takes it.
  ///
  /// - Returns: false if none came within `limit`, or is there if that is not above zero.
  public func wait(upTo limit: Duration) -> Bool {
    // The system would refuse a time with a negative part, and the wait would never end.
    let limit = max(limit, .zero)
    var deadline = timespec()
    clock_gettime(CLOCK_MONOTONIC, &deadline)
    let (seconds, attoseconds) = limit.components
    let nanoseconds = deadline.tv_nsec + Int(attoseconds / 1_000_000_000)
    // A limit of centuries is as good as any larger one.
    deadline.tv_sec += Int(min(seconds, 1 << 33)) + nanoseconds / 1_000_000_000
    deadline.tv_nsec = nanoseconds % 1_000_000_000
    pthread_mutex_lock(&storage.pointee.mutex)
    defer { pthread_mutex_unlock(&storage.pointee.mutex) }
    while storage.pointee.count == 0 {
      let status = pthread_cond_timedwait(&storage.pointee.condition, &storage.pointee.mutex, &deadline)
      if status == ETIMEDOUT && storage.pointee.count == 0 { return false }
    }
    storage.pointee.count -= 1
    return true
  }
  #else
  private let semaphore = DispatchSemaphore(value: 0)

  public init() {}

  /// Lets one thread that waits, or the next that will, go on.
  public func signal() { semaphore.signal() }

  /// Waits for a signal, and takes it.
  ///
  /// - Returns: false if none came within `limit`, or is there if that is not above zero.
  public func wait(upTo limit: Duration) -> Bool {
    let milliseconds = Int(min(limit / .milliseconds(1), 1e12))
    return semaphore.wait(timeout: .now() + .milliseconds(milliseconds)) == .success
  }
  #endif
}
