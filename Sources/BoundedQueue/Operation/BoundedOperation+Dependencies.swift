import Foundation
import Locking

extension BoundedOperation {
  /// Makes the operation wait for another one, as ``addDependency(_:)`` does.
  ///
  /// - Parameters:
  ///   - operation: the one to wait for.
  ///   - allowsFailure: true if this operation runs even if the other one does not succeed. A dependency that is added twice may
  ///     fail only if both calls say so.
  public func addDependency(_ operation: Operation, allowsFailure: Bool) {
    addDependency(operation, allowsFailure: allowsFailure, readAs: nil)
  }

  /// - Parameter result: the result that the work reads, which is released at the end of this operation.
  func addDependency(_ operation: Operation, allowsFailure: Bool, readAs result: (any ReleasableResult)?) {
    state.withLock { state in
      precondition(state.isNew, "operation #\(id) gets a dependency after its submission")
      state.dependencies.add(operation, allowsFailure: allowsFailure, readAs: result)
    }
  }

  /// Makes the operation wait for another one, whose result its work reads.
  ///
  /// - Parameters:
  ///   - operation: the one to wait for.
  ///   - allowsFailure: true if this operation runs even if the other one does not succeed.
  public func dependency<Value>(
    on operation: ResultOperation<Value>, allowsFailure: Bool = false
  ) -> Dependency<Value> {
    let dependency = Dependency(on: operation)
    addDependency(operation, allowsFailure: allowsFailure, readAs: dependency)
    return dependency
  }

  /// The operations that wait for this one, in the order of their creation. An observer that receives the end of this
  /// one still sees them.
  public var dependants: [OperationName] { state.withLock { $0.dependencies }.dependantNames }

  /// Why a dependency may never end.
  enum EndlessDependency {
    case onItself
    case notSubmitted(OperationName)
  }

  /// Finds a dependency that may never end; nil if each ends without anything that is still to be submitted. Then no order
  /// of submission leads to a queue that is full of operations that wait for one outside it.
  func endlessDependency() -> EndlessDependency? {
    var ahead = state.withLock { $0.dependencies.operations }
    var seen: Set<ObjectIdentifier> = []
    while let next = ahead.popLast() {
      if next === self { return .onItself }
      if let bounded = next as? BoundedOperation {
        guard bounded.state.withLock({ $0.isSubmitted }) else { return .notSubmitted(OperationName(bounded)) }
      } else if !next.isFinished, seen.insert(ObjectIdentifier(next)).inserted {
        // Whether an operation of another kind was submitted is not known. What it waits for is.
        ahead += next.dependencies
      }
    }
    return nil
  }

  /// Registers the operation with its dependencies, which then notify it of their ends. Those of another kind do so only
  /// after ``watchForeignDependencies()``.
  ///
  /// - Returns: true if one of them has not ended, or has not succeeded and the operation is about to be cancelled for it.
  func registerWithDependencies() -> Bool {
    let operations = state.withLock { state in
      state.dependencies.beginSubmission()
      return state.dependencies.operations
    }
    for operation in operations {
      if let bounded = operation as? BoundedOperation {
        let waits = bounded.state.withLock { $0.dependencies.register(self) }
        if !waits { dependencyEnded(bounded) }
      } else if operation.isFinished {
        dependencyEnded(operation)
      }
    }
    return state.withLock { $0.dependencies.waits }
  }

  /// Watches for the end of each dependency that is no ``BoundedOperation``. This cannot be undone, so it is called only
  /// when the queue takes the operation: each refused submission would otherwise add a watcher that stays.
  func watchForeignDependencies() {
    for operation in state.withLock({ $0.dependencies.operations }) where !(operation is BoundedOperation) {
      Bell.ring(atEndOf: operation, for: self)
    }
  }

  /// Undoes ``registerWithDependencies()``.
  func unregisterFromDependencies() {
    let operations = state.withLock { state in
      state.dependencies.abandonSubmission()
      return state.dependencies.operations
    }
    for operation in operations { forget(operation) }
  }

  /// Stops waiting for the end of a dependency.
  fileprivate func forget(_ operation: Operation) {
    (operation as? BoundedOperation)?.state.withLock { $0.dependencies.unregister(self) }
  }

  /// Called at the end of a dependency: the operation waits for the others or for a place, or it is cancelled.
  func dependencyEnded(_ operation: Operation) {
    let failure = FailedDependency(of: operation)
    let (consequence, queue) = state.withLock { ($0.dependencies.ended(operation, failure: failure), $0.queue) }
    switch consequence {
    case .none: break
    case .ready: queue?.ready(self)
    case .cancelled: cancel(reason: .dependency)
    }
  }
}

extension FailedDependency {
  /// Nil if the operation succeeded.
  fileprivate init?(of operation: Operation) {
    guard let bounded = operation as? BoundedOperation else {
      guard operation.isCancelled else { return nil }
      self.init(operation: OperationName(operation), ending: "was cancelled", error: nil)
      return
    }
    let (outcome, root) = bounded.state.withLock { ($0.outcome, $0.dependencies.failure) }
    switch outcome {
    case .succeeded, nil: return nil
    case .failed(let error): self.init(operation: OperationName(operation), ending: "failed: \(error)", error: error)
    case .cancelledWhileWaiting(let reason), .cancelledWhileRunning(let reason):
      if reason == .dependency, let root {
        self = root
      } else {
        let error = OperationCancelledError(reason: reason)
        self.init(operation: OperationName(operation), ending: "was cancelled \(reason)", error: error)
      }
    }
  }
}

/// Notifies dependants of the end of what they wait for. The end of one may end others, down a chain of any length, so a
/// thread that is notifying already only notes further ends instead of calling itself.
enum EndNotification {
  private final class Pending {
    var ended: [(operation: BoundedOperation, dependants: [BoundedOperation])] = []
  }

  /// The ``Pending`` of a thread that is notifying.
  private static let pending = ThreadPointer()

  /// Takes care of what an operation has released at its end.
  static func carryOut(_ released: Dependencies.Released, of operation: BoundedOperation) {
    for result in released.results { result.release() }
    for dependency in released.unfinished { operation.forget(dependency) }
    // In the order of their creation.
    if !released.dependants.isEmpty { notify(released.dependants.sorted { $0.id < $1.id }, of: operation) }
  }

  private static func notify(_ dependants: [BoundedOperation], of operation: BoundedOperation) {
    if let outer = self.pending.value {
      return Unmanaged<Pending>.fromOpaque(outer).takeUnretainedValue().ended.append((operation, dependants))
    }
    let pending = Pending()
    self.pending.value = Unmanaged.passUnretained(pending).toOpaque()
    defer { self.pending.value = nil }
    var next: (operation: BoundedOperation, dependants: [BoundedOperation])? = (operation, dependants)
    while let (operation, dependants) = next.take() {
      for dependant in dependants { dependant.dependencyEnded(operation) }
      next = pending.ended.popLast()
    }
  }
}

/// Notices the end of operations that are no ``BoundedOperation``. Foundation has no other way on Linux than an
/// operation that depends on them.
private enum Bell {
  private static let threads = DispatchQueue(label: "dependencies of bounded operations")
  private static let queue: OperationQueue = {
    let queue = OperationQueue()
    queue.underlyingQueue = threads
    return queue
  }()

  /// The bell does not keep the dependant alive.
  static func ring(atEndOf operation: Operation, for dependant: BoundedOperation) {
    let bell = BlockOperation { [weak dependant, weak operation] in
      guard let dependant, let operation else { return }
      dependant.dependencyEnded(operation)
    }
    bell.addDependency(operation)
    queue.addOperation(bell)
  }
}
