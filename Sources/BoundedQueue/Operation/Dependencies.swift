import Foundation

/// What an operation waits for, and what waits for it. A value, which the lock of the operation's state guards.
struct Dependencies {
  /// An operation that must have ended before the dependant may start.
  struct Edge {
    let operation: Operation
    /// Whether the dependant runs even if this operation does not succeed.
    var allowsFailure: Bool
    /// Counts the edges, for their order.
    let number: Int
  }

  /// The dependencies that have not ended.
  private var edges: [ObjectIdentifier: Edge] = [:]
  private var edgesAdded = 0
  /// How many ends the operation still waits for, and one more while it is being submitted.
  private var missing = 0
  /// The operations that wait for this one, by id, so that each can leave in O(1); nil once they are being notified of its
  /// end.
  private var dependants: [Int: BoundedOperation]? = [:]
  /// The results that the work may read.
  private var results: [any ReleasableResult] = []
  /// Why the operation cannot run. The thread that sets it cancels the operation next. Before that, another thread may notice
  /// the end of the last dependency; the operation does not become ready then.
  private(set) var failure: FailedDependency?

  var isEmpty: Bool { edges.isEmpty }
  /// Whether an operation that is being submitted has to wait.
  var waits: Bool { !edges.isEmpty || failure != nil }
  /// The dependencies that have not ended, in the order in which they were added.
  var operations: [Operation] { edges.values.sorted { $0.number < $1.number }.map(\.operation) }
  var count: Int { edges.count }
  var neededBy: Int { dependants?.count ?? 0 }
  /// The names of the operations that wait for this one, in the order of their creation.
  var dependantNames: [OperationName] { (dependants ?? [:]).values.sorted { $0.id < $1.id }.map { OperationName($0) } }

  /// The first dependencies that have not ended, in the order in which they were added.
  ///
  /// *Complexity*: linear in their number, because they are not sorted all.
  func waitsFor(limit: Int) -> [OperationName] {
    var first: [Edge] = []
    for edge in edges.values where first.count < limit || edge.number < (first.last?.number ?? 0) {
      first.insert(edge, at: first.firstIndex { edge.number < $0.number } ?? first.endIndex)
      if first.count > limit { first.removeLast() }
    }
    return first.map { OperationName($0.operation) }
  }

  // MARK: As a dependant

  /// Adds a dependency. One that is added again may fail only if both say so.
  ///
  /// - Parameter result: the result that the work reads; nil if it reads none.
  mutating func add(_ operation: Operation, allowsFailure: Bool, readAs result: (any ReleasableResult)?) {
    let key = ObjectIdentifier(operation)
    let allowsFailure = allowsFailure && edges[key]?.allowsFailure ?? true
    edges[key] = Edge(operation: operation, allowsFailure: allowsFailure, number: edges[key]?.number ?? edgesAdded)
    edgesAdded += 1
    if let result { results.append(result) }
  }

  mutating func remove(_ operation: Operation) { edges[ObjectIdentifier(operation)] = nil }

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
    guard let edge = edges.removeValue(forKey: ObjectIdentifier(operation)) else { return .none }
    let isReady = countEnd()
    guard let failure, !edge.allowsFailure else { return isReady ? .ready : .none }
    self.failure = self.failure ?? failure
    return .cancelled
  }

  private mutating func countEnd() -> Bool {
    guard missing > 0 else { return false }
    missing -= 1
    return missing == 0 && failure == nil
  }

  // MARK: As a dependency

  /// Registers an operation that waits for this one; false if it need not wait.
  mutating func register(_ dependant: BoundedOperation) -> Bool {
    guard dependants != nil else { return false }
    dependants?[dependant.id] = dependant
    return true
  }

  mutating func unregister(_ dependant: BoundedOperation) { dependants?[dependant.id] = nil }

  // MARK: The end

  /// Ends both roles, so that nothing that has ended is kept alive.
  mutating func end() -> Released {
    defer { (edges, results) = ([:], []) }
    return Released(
      dependants: Array((dependants.take() ?? [:]).values), unfinished: edges.values.map(\.operation),
      results: results)
  }

  /// What an ended operation held. The caller takes care of it after it has released the lock.
  struct Released {
    /// The operations that wait for it, which must be notified of its end.
    let dependants: [BoundedOperation]
    /// The operations that it would still wait for, if it had not been cancelled. They must forget it.
    let unfinished: [Operation]
    /// The results that it could read, which must be released.
    let results: [any ReleasableResult]
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
public struct FailedDependency: Sendable, CustomStringConvertible {
  public let operation: OperationName
  /// How it ended, such as "failed: no such file" or "was cancelled by the user".
  public let ending: String
  /// The error with which it failed, or ``OperationCancelledError``; nil for an operation that is no ``BoundedOperation``.
  public let error: (any Error)?

  public var description: String { "\(operation) \(ending)" }
}
