import Foundation
import Locking

/// A POSIX lock is a value in memory, and only at its own address a lock.
enum CopiedLock: Lesson {
  static let name = "copied-lock"
  static let claim =
    "A `pthread_rwlock_t` must not be copied: a copy is another lock, and excludes nobody from the first."
  static let today =
    "Swift copies structs silently; a `~Copyable` guard with its lock on the heap makes it a compile-time error."
  static let file = #fileID

  static func wrong() -> Outcome {
    var lock = pthread_rwlock_t()
    pthread_rwlock_init(&lock, nil)
    var copy = lock  // such as a struct with the lock that is passed on
    pthread_rwlock_wrlock(&lock)
    let areBothIn = pthread_rwlock_trywrlock(&copy) == 0
    pthread_rwlock_unlock(&lock)
    if areBothIn { pthread_rwlock_unlock(&copy) }
    pthread_rwlock_destroy(&copy)
    pthread_rwlock_destroy(&lock)
    return Outcome(isFaulty: areBothIn, "\(areBothIn ? 2 : 1) of 2 writers are in at once")
  }

  static func right() -> Outcome {
    let value = Guarded(WriterPreferringLocked(0))  // `let copy = value.lock` does not compile
    let areBothIn = Meanwhile.isReached(
      .doubtful, whileIn: { isIn in value.lock.write { _ in isIn() } },
      by: { isIn in value.lock.write { _ in isIn.open() } })
    return Outcome(isFaulty: areBothIn, "\(areBothIn ? 2 : 1) of 2 writers are in at once")
  }
}
