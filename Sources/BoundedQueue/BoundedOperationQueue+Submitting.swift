import Foundation
import Locking

/// Submitting operations.
extension BoundedOperationQueue {
  /// Submits an operation, and blocks the thread while the backlog is full.
  ///
  /// Waiting producers are served in order of arrival. A producer also stops waiting when the queue is closed or
  /// cancelled, which is an error, and when its operation is cancelled, which the queue then accepts and ends.
  ///
  /// - Throws: ``SubmitError`` if the queue did not accept the operation.
  @available(*, noasync, message: "use submit(_:), which suspends instead of blocking a thread")
  public func submitBlocking(_ operation: BoundedOperation) throws(SubmitError) {
    let answer = Locked<Result<Void, SubmitError>?>(nil)  // written before the signal, read after it
    let wake = DispatchSemaphore(value: 0)
    let admission = try admit(
      operation,
      orBlock: { result in
        answer.withLock { $0 = result }
        wake.signal()
      })
    guard case .blocked = admission else { return }
    wake.wait()
    if case .failure(let error) = answer.withLock({ $0 }) { throw error }
  }

  /// Submits an operation, and suspends the task while the backlog is full.
  ///
  /// - Throws: ``SubmitError``, or `CancellationError` when the task is cancelled before the operation is accepted.
  public nonisolated(nonsending) func submit(_ operation: BoundedOperation) async throws {
    try Task.checkCancellation()
    let producer = SuspendedTask()
    try await withTaskCancellationHandler {
      try await withUnsafeThrowingContinuation { continuation in
        producer.suspend(continuation)
        do {
          switch try admit(operation, orBlock: { producer.resume(with: $0.mapError { $0 }) }) {
          case .blocked(let ticket): producer.ticket = ticket
          case .accepted, .full, .refused: producer.resume(with: .success(()))
          }
        } catch {
          producer.resume(with: .failure(error))
        }
        // If the task was cancelled before this point, its cancellation handler found no ticket to withdraw.
        if Task.isCancelled { withdraw(producer, of: operation) }
      }
    } onCancel: {
      withdraw(producer, of: operation)
    }
  }

  /// Submits an operation if there is room now; never waits.
  ///
  /// - Returns: false if there is no room or other producers wait; the operation is unchanged then.
  /// - Throws: ``SubmitError`` if the queue did not accept the operation.
  public func trySubmit(_ operation: BoundedOperation) throws(SubmitError) -> Bool {
    if case .accepted = try admit(operation, orBlock: nil) { true } else { false }
  }

  /// - Returns: `.accepted` if there is room. Otherwise `.blocked`, and `release` is called later, on any thread; or
  ///   `.full` if `release` is nil.
  private func admit(
    _ operation: BoundedOperation, orBlock release: (@Sendable (Result<Void, SubmitError>) -> Void)?
  ) throws(SubmitError) -> Account.Admission {
    guard !CurrentQueue.isCurrent(self) else { throw .fromOwnWorker }
    let (joined, isDependant) = operation.state.withLock { ($0.join(self, at: .now), !$0.dependencies.isEmpty) }
    guard joined else { throw .alreadySubmitted }
    operation.makeTask()
    return isDependant
      ? try admitDependant(operation, orBlock: release) : try admit(operation, isReady: true, orBlock: release)
  }

  /// Admits an operation with dependencies. From here on they notify it of their ends, on any thread; it is ready when the
  /// last has ended, but not before this function has ended.
  private func admitDependant(
    _ operation: BoundedOperation, orBlock release: (@Sendable (Result<Void, SubmitError>) -> Void)?
  ) throws(SubmitError) -> Account.Admission {
    if let endless = operation.endlessDependency() {
      operation.giveTurn(false)
      operation.state.withLock { $0.leave() }
      switch endless {
      case .onItself: throw .dependsOnItself
      case .notSubmitted(let name): throw .dependencyNotSubmitted(name)
      }
    }
    let waits = operation.registerWithDependencies()
    let admission = try admit(operation, isReady: !waits, orBlock: release)
    switch admission {
    case .accepted, .blocked:
      operation.watchForeignDependencies()
      if operation.state.withLock({ $0.dependencies.endSubmission() }) { ready(operation) }
    case .full, .refused: break  // it has left the queue
    }
    return admission
  }

  private func admit(
    _ operation: BoundedOperation, isReady: Bool, orBlock release: (@Sendable (Result<Void, SubmitError>) -> Void)?
  ) throws(SubmitError) -> Account.Admission {
    let (admission, effects) = account.withLock { $0.admit(operation, isReady: isReady, orBlock: release) }
    switch admission {
    case .accepted: carryOut(effects)
    case .blocked: break
    case .full: leave(operation)
    case .refused(let error):
      leave(operation)
      throw error
    }
    return admission
  }

  private func withdraw(_ producer: SuspendedTask, of operation: BoundedOperation) {
    guard let ticket = producer.ticket else { return }
    let (withdrawn, effects) = account.withLock { $0.withdrawProducer(ticket) }
    if withdrawn {
      leave(operation)
      producer.resume(with: .failure(CancellationError()))
    }
    carryOut(effects)
  }

  /// Makes an operation that was not accepted new again.
  func leave(_ operation: BoundedOperation) {
    operation.unregisterFromDependencies()
    operation.giveTurn(false)
    operation.state.withLock { $0.leave() }
  }
}
