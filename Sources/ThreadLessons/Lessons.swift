/// The lessons.
public enum Lessons {
  /// Every lesson that any build of the program can run.
  public static let all: [any Lesson.Type] = caches + classes + queues + races + documents + requests
  /// Those for which ``Helper/program`` must be built with the thread sanitizer.
  public static let sanitized: [any Lesson.Type] = [SanitizedRace.self]

  /// A cache that many threads read and few write.
  private static let caches: [any Lesson.Type] = [
    ReadersUnderAMutex.self, ReadersByTwoSemaphores.self, CopiedLock.self, WaitingForABarrier.self,
    PropertyOnAConcurrentQueue.self, BarrierOnAGlobalQueue.self, StarvingWriter.self, LRUUnderAReadLock.self,
    SetThenPrint.self, OneLockForAll.self, SlowWorkUnderTheLock.self, LocksInTwoOrders.self, RecursiveLock.self,
    SelfLock.self,
  ]

  /// A class that several threads use.
  private static let classes: [any Lesson.Type] = [
    TouchedElsewhere.self, TwoProperties.self, LastRelease.self, HandedOutArray.self, StripedLocks.self,
    CheckThenUse.self, LostObserver.self,
  ]

  /// Queues, and the threads that they take.
  private static let queues: [any Lesson.Type] = [
    UnboundedOperationQueue.self, PriorityInversion.self, CurrentQueue.self, AsyncToFixTiming.self, StalledReads.self,
    ThreadExplosion.self,
  ]

  /// Code that is not safe for threads, and how it is found. See also ``sanitized``.
  private static let races: [any Lesson.Type] = [FourThreadsOneMethod.self, UnguardedValue.self]

  /// A manager of documents that exists once.
  private static let documents: [any Lesson.Type] = [
    MadeTwice.self, ArrayAddedToWhileRead.self, SyncOntoItself.self,
  ]

  /// Two requests, and then the next step.
  private static let requests: [any Lesson.Type] = [
    GroupLeftEarly.self, LastThreadOfAPool.self, CountWithoutALock.self, FailureOfARequest.self, ForgottenTask.self,
    DelegateQueue.self, NestedRequests.self,
  ]
}
