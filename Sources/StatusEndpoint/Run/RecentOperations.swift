import Locking

/// The operations that ended last, for who asks afterwards: so many of those that are done, and as many of those that are
/// not, so that a thousand successes do not wash one failure away.
///
/// *Concurrency*: the lock guards both rings. Adding costs a copy under it; what is kept is put into words only when somebody
/// asks, outside the lock.
public final class RecentOperations: Sendable {
  private typealias Kept = (id: Int, status: @Sendable () -> OperationStatus)

  private struct Rings {
    var done: Ring<Kept>
    var notDone: Ring<Kept>
  }

  private let rings: Locked<Rings>

  /// - Parameter capacity: how many of each kind are kept, at least 1; about half a kilobyte each.
  public init(capacity: Int = 1000) {
    precondition(capacity >= 1, "at least one must be kept")
    rings = Locked(Rings(done: Ring(capacity), notDone: Ring(capacity)))
  }

  /// Keeps an operation that has ended, in the place of the oldest of its kind where there is no room.
  ///
  /// - Parameters:
  ///   - isDone: its state is `finished`.
  ///   - status: what it was at its end; called whenever somebody asks.
  public func add(_ id: Int, isDone: Bool, _ status: @escaping @Sendable () -> OperationStatus) {
    rings.withLock { rings in
      if isDone { rings.done.add((id, status)) } else { rings.notDone.add((id, status)) }
    }
  }

  /// Those that a query selects: as many as its page and the knowledge whether another follows take; in no particular
  /// order.
  public func operations(_ query: OperationQuery) -> [OperationStatus] {
    let rings = rings.withLock { $0 }
    let done = query.states.contains(.finished) ? rings.done.elements.filter { $0.id > query.after } : []
    let notDone = query.states.isSubset(of: [.finished]) ? [] : rings.notDone.elements.filter { $0.id > query.after }
    // Only of those that are not done it takes the status to tell the state.
    return done.sorted { $0.id < $1.id }.prefix(query.limit + 1).map { $0.status() }
      + notDone.map { $0.status() }.filter { query.states.contains($0.state) }
  }

  /// *Complexity*: O(n) in what is kept.
  public func operation(_ id: Int) -> OperationStatus? {
    let kept = rings.withLock { rings in
      rings.done.elements.first { $0.id == id } ?? rings.notDone.elements.first { $0.id == id }
    }
    return kept?.status()
  }
}
