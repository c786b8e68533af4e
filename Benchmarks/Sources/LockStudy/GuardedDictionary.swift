import Foundation
import Locking
import Synchronization

/// What is guarded: operation number to where it stands, as in a queue's account.
typealias Places = [Int: Int]

/// A dictionary and the lock that guards it.
protocol GuardedDictionary: AnyObject, Sendable {
  static var name: String { get }

  init(_ places: Places)

  func read(_ body: (Places) -> Void)
  func write(_ body: (inout Places) -> Void)
}

/// The project's own: `pthread_mutex_t`.
final class LockedPlaces: GuardedDictionary {
  static let name = "Locked (pthread_mutex_t)"
  private let places: Locked<Places>

  init(_ places: Places) { self.places = Locked(places) }

  func read(_ body: (Places) -> Void) { places.withLock { body($0) } }
  func write(_ body: (inout Places) -> Void) { places.withLock { body(&$0) } }
}

/// On Linux a futex of the standard library's.
final class MutexPlaces: GuardedDictionary {
  static let name = "Synchronization.Mutex"
  private let places: Mutex<Places>

  init(_ places: Places) { self.places = Mutex(places) }

  func read(_ body: (Places) -> Void) { places.withLock { body($0) } }
  func write(_ body: (inout Places) -> Void) { places.withLock { body(&$0) } }
}

final class LockPlaces: GuardedDictionary, @unchecked Sendable {  // the lock guards the places
  static let name = "NSLock"
  private let lock = NSLock()
  private var places: Places

  init(_ places: Places) { self.places = places }

  func read(_ body: (Places) -> Void) { lock.withLock { body(places) } }
  func write(_ body: (inout Places) -> Void) { lock.withLock { body(&places) } }
}

final class RecursiveLockPlaces: GuardedDictionary, @unchecked Sendable {  // the lock guards the places
  static let name = "NSRecursiveLock"
  private let lock = NSRecursiveLock()
  private var places: Places

  init(_ places: Places) { self.places = places }

  func read(_ body: (Places) -> Void) { lock.withLock { body(places) } }
  func write(_ body: (inout Places) -> Void) { lock.withLock { body(&places) } }
}

/// A concurrent queue whose writes are barriers.
final class BarrierPlaces: GuardedDictionary, @unchecked Sendable {  // the queue guards the places
  static let name = "GCD queue, barrier writes"
  private let queue = DispatchQueue(label: "places", attributes: .concurrent)
  private var places: Places

  init(_ places: Places) { self.places = places }

  func read(_ body: (Places) -> Void) { queue.sync { body(places) } }
  func write(_ body: (inout Places) -> Void) { queue.sync(flags: .barrier) { body(&places) } }
}

/// As it comes: in glibc readers go first, and writers wait for as long as there are any.
final class ReadWriteLockPlaces: GuardedDictionary, @unchecked Sendable {  // the lock guards the places
  static let name = "pthread_rwlock_t"
  private let lock = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)
  private var places: Places

  init(_ places: Places) {
    self.places = places
    pthread_rwlock_init(lock, nil)
  }

  deinit {
    pthread_rwlock_destroy(lock)
    lock.deallocate()
  }

  func read(_ body: (Places) -> Void) {
    pthread_rwlock_rdlock(lock)
    defer { pthread_rwlock_unlock(lock) }
    body(places)
  }

  func write(_ body: (inout Places) -> Void) {
    pthread_rwlock_wrlock(lock)
    defer { pthread_rwlock_unlock(lock) }
    body(&places)
  }
}
