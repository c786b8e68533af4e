import Dispatch
import Locking

/// What the operations of a queue call.
extension BoundedOperationQueue {
  func waitReason(_ operation: BoundedOperation, hasBegun: Bool) -> String? {
    account.withLock { $0.waitReason(operation, hasBegun: hasBegun) }
  }

  /// Lets an operation whose dependencies have ended wait for a place.
  func ready(_ operation: BoundedOperation) { carryOut(account.withLock { $0.ready(operation) }) }

  /// Takes a cancelled operation out of the waiting line it is in.
  func withdraw(_ operation: BoundedOperation) { carryOut(account.withLock { $0.withdraw(operation) }) }

  /// Counts an operation whose work is beginning.
  func began(_ operation: BoundedOperation) { account.withLock { $0.began() } }

  /// Reserves `bytes` of the budget for the operation, and blocks until they are free.
  ///
  /// - Throws: ``BudgetExceededError``, or ``OperationCancelledError`` if it was cancelled while it waited.
  func reserve(_ bytes: Int, for operation: BoundedOperation) throws {
    var answer = account.withLock { $0.claim(bytes, for: operation, answer: nil) }
    if case .waits = answer {
      let since = ContinuousClock.now
      answer = claim(bytes, for: operation)
      operation.state.withLock { $0.waitedForMemory += .now - since }
    }
    switch answer {
    case .granted: return
    case .refused(let error): throw error
    case .turnedAway(let reason):
      operation.cancel(reason: reason)
      try operation.checkCancelled()
    case .waits, .cancelled: try operation.checkCancelled()
    }
  }

  private func claim(_ bytes: Int, for operation: BoundedOperation) -> Account.ClaimAnswer {
    let wake = DispatchSemaphore(value: 0)
    let later = Locked(Account.ClaimAnswer.waits)  // written before the signal, read after it
    let answer = account.withLock { account in
      account.claim(bytes, for: operation) { answer in
        later.withLock { $0 = answer }
        wake.signal()
      }
    }
    guard case .waits = answer else { return answer }
    wake.wait()
    return later.withLock { $0 }
  }

  func giveBack(_ bytes: Int) { carryOut(account.withLock { $0.giveBack(bytes) }) }

  /// Delivers the end of an operation to the observers, then frees its place.
  func finished(_ operation: BoundedOperation) {
    if operation.deliverEnd(to: self) { departed(operation) }
  }
}
