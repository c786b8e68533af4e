extension Act {
  /// Does it in this process, which it may end.
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
