import DequeModule
import Locking

/// The operations that ended last. Successful operations and the others are kept separately, so that many successes do
/// not displace a failure.
///
/// *Concurrency*: the lock guards both kinds. A status is created only on request, outside the lock.
public final class RecentOperations: Sendable {
  private typealias Kept = (id: Int, status: @Sendable () -> OperationStatus)

  /// Each oldest first.
  private struct State {
    var done: Deque<Kept> = []
    var notDone: Deque<Kept> = []
  }

  private let state = Locked(State())
  private let capacity: Int

  /// - Parameter capacity: the number of operations to keep of each kind, at least 1; about half a kilobyte each.
  public init(capacity: Int = 1000) {
    precondition(capacity >= 1, "at least one must be kept")
    self.capacity = capacity
  }

  /// Keeps an operation that has ended; replaces the oldest of its kind if there is no room.
  ///
  /// - Parameters:
  ///   - isDone: whether its state is `finished`.
  ///   - status: creates its final status; called on each request.
  public func add(_ id: Int, isDone: Bool, _ status: @escaping @Sendable () -> OperationStatus) {
    state.withLock { state in
      if isDone {
        state.done.append((id, status), keeping: capacity)
      } else {
        state.notDone.append((id, status), keeping: capacity)
      }
    }
  }

  /// The operations that a query selects, unordered: enough to fill its page and to know whether another page follows.
  public func operations(_ query: OperationQuery) -> [OperationStatus] {
    let state = state.withLock { $0 }
    let done = query.states.contains(.finished) ? state.done.filter { $0.id > query.after } : []
    let notDone = query.states.isSubset(of: [.finished]) ? [] : state.notDone.filter { $0.id > query.after }
    // Only unsuccessful operations need their status to know the state.
    return done.sorted { $0.id < $1.id }.prefix(query.limit + 1).map { $0.status() }
      + notDone.map { $0.status() }.filter { query.states.contains($0.state) }
  }

  /// *Complexity*: O(n) in the number of kept operations.
  public func operation(_ id: Int) -> OperationStatus? {
    let kept = state.withLock { state in
      state.done.first { $0.id == id } ?? state.notDone.first { $0.id == id }
    }
    return kept?.status()
  }
}
