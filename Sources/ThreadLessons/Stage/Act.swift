import Foundation

/// What a process of its own does for a lesson.
public enum Act: String, CaseIterable, Sendable {
  case selfLock = "self-lock"
  case syncOntoItself = "sync-onto-itself"
  case currentQueue = "current-queue"
  case fourThreads = "four-threads"
  case fourThreadsWithLock = "four-threads-with-lock"
  case arrayWhileRead = "array-while-read"
  case touchElsewhere = "touch-elsewhere"
  case unguardedValue = "unguarded-value"
  case guardedValue = "guarded-value"

  /// The option of the program of the lessons that performs one.
  public static let option = "--act"

  /// What ends by itself takes less than this. What hangs is killed then.
  var seconds: Double {
    switch self {
    // The thread sanitizer is slow.
    case .fourThreads, .fourThreadsWithLock, .arrayWhileRead: 60
    case .selfLock, .syncOntoItself, .currentQueue: 5
    case .touchElsewhere, .unguardedValue, .guardedValue: 20
    }
  }

  public func perform() {
    switch self {
    case .selfLock: SelfLock.lockTwice()
    case .syncOntoItself: SyncOntoItself.syncTwice()
    case .currentQueue: CurrentQueue.callBack()
    case .fourThreads: FourThreadsOneMethod.race()
    case .fourThreadsWithLock: FourThreadsOneMethod.countWithLock()
    case .arrayWhileRead: ArrayAddedToWhileRead.race()
    case .touchElsewhere: TouchedElsewhere.touchConfined()
    case .unguardedValue: UnguardedValue.record(forgetting: true)
    case .guardedValue: UnguardedValue.record(forgetting: false)
    }
  }
}
