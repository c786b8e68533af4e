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

  /// Whether the guards of this build know which locks a thread holds, and trap at one that is taken twice.
  static var checksLocks: Bool {
    #if DEBUG
    true
    #else
    false
    #endif
  }

  /// What ends by itself takes less than this, also under the thread sanitizer. What hangs is killed then.
  var seconds: Double {
    switch self {
    case .syncOntoItself, .currentQueue: 5
    case .selfLock: Self.checksLocks ? 60 : 5
    case .fourThreads, .fourThreadsWithLock, .arrayWhileRead, .touchElsewhere, .unguardedValue, .guardedValue: 60
    }
  }
}
