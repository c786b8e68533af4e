import Foundation

/// What an operation waits for, and what waits for it. A value, which the lock of the operation's state guards.
struct Dependencies {
  /// An operation that must have ended before the dependant may start.
  struct Edge {
    let operation: Operation
    /// Whether the dependant runs even if this operation does not succeed.
    let mayFail: Bool
  }

  /// The dependencies that have not ended, in the order in which they were added.
  private(set) var edges: [Edge] = []
  /// How many ends the operation still waits for, and one more while it is being submitted.
  private var missing = 0
  /// The operations that wait for this one, by id, so that each can leave in O(1); nil once all have been told of its
  /// end.
  private var dependants: [Int: BoundedOperation]? = [:]
  /// The results that the work may read. They are let go at its end.
  private var results: [any ReleasableResult] = []
  /// Why the operation cannot run.
  private(set) var failure: FailedDependency?

  var isEmpty: Bool { edges.isEmpty }
  var waitsFor: [OperationName] { edges.map { OperationName($0.operation) } }
  var neededBy: Int { dependants?.count ?? 0 }
  /// Whether the end of this operation has been told.
  var hasSettled: Bool { dependants == nil }

  // MARK: As a dependant

  mutating func add(_ operation: Operation, mayFail: Bool) {
    if edges.contains(where: { $0.operation === operation }) { return }
    edges.append(Edge(operation: operation, mayFail: mayFail))
  }

  mutating func remove(_ operation: Operation) { edges.removeAll { $0.operation === operation } }

  mutating func keep(_ result: any ReleasableResult) { results.append(result) }

  /// Begins to count ends. The operation cannot become ready before ``endSubmission()``.
  mutating func beginSubmission() { missing = edges.count + 1 }

  /// - Returns: true if the operation is ready: all of its dependencies have ended.
  mutating func endSubmission() -> Bool { countEnd() }

  /// Stops counting ends, because the queue did not accept the operation.
  mutating func abandonSubmission() { missing = 0 }

  /// What follows from the end of a dependency.
  enum Consequence {
    case none
    case ready
    /// It did not succeed, and the operation needs it.
    case cancelled
  }

  /// Counts the end of a dependency, once.
  ///
  /// - Parameter failure: why it did not succeed; nil if it did.
  mutating func ended(_ operation: Operation, failure: FailedDependency?) -> Consequence {
    guard let index = edges.firstIndex(where: { $0.operation === operation }) else { return .none }
    let edge = edges.remove(at: index)
    let isReady = countEnd()
    guard let failure, !edge.mayFail else { return isReady ? .ready : .none }
    self.failure = self.failure ?? failure
    return .cancelled
  }

  private mutating func countEnd() -> Bool {
    guard missing > 0 else { return false }
    missing -= 1
    return missing == 0
  }

  // MARK: As a dependency

  /// Registers an operation that waits for this one; false if it need not wait.
  mutating func register(_ dependant: BoundedOperation) -> Bool {
    guard dependants != nil else { return false }
    dependants?[dependant.id] = dependant
    return true
  }

  mutating func unregister(_ dependant: BoundedOperation) { dependants?[dependant.id] = nil }

  /// Ends both roles, so that nothing that has ended is kept alive.
  mutating func settle() -> Settled {
    for result in results { result.release() }
    results = []
    defer { edges = [] }
    return Settled(dependants: Array((dependants.take() ?? [:]).values), unfinished: edges.map(\.operation))
  }

  /// What an ended operation leaves to be done once the lock is released.
  struct Settled {
    /// The operations that wait for it, which must be told of its end.
    var dependants: [BoundedOperation] = []
    /// The operations that it would still wait for, if it had not been cancelled. They must forget it.
    var unfinished: [Operation] = []

    var isEmpty: Bool { dependants.isEmpty && unfinished.isEmpty }
  }
}

/// An operation that is named as a dependency.
public struct OperationName: Sendable, Hashable, CustomStringConvertible {
  /// Nil for an operation that is no ``BoundedOperation``.
  public let id: Int?
  public let title: String

  init(_ operation: Operation) {
    let bounded = operation as? BoundedOperation
    id = bounded?.id
    title = bounded?.title ?? operation.name ?? "\(type(of: operation))"
  }

  public var description: String { id.map { "#\($0) \(title)" } ?? title }
}

/// A dependency that did not succeed, for which its dependants were cancelled. Down a chain, it is the first one that did
/// not succeed.
public struct FailedDependency: Sendable, Hashable, CustomStringConvertible {
  public let operation: OperationName
  /// How it ended, such as "failed: no such file" or "was cancelled by the user".
  public let ending: String

  public var description: String { "\(operation) \(ending)" }
}
