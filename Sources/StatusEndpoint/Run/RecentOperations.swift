import Locking

/// The operations that ended last, for who asks afterwards: so many of those that are done, and as many of those that are
/// not, so that a thousand successes do not wash one failure away.
///
/// *Concurrency*: the lock guards both rings. Adding costs a copy under it; what is kept is put into words only when somebody
/// asks, outside the lock.
public final class RecentOperations: Sendable {
  private struct Rings {
    var done: Ring
    var notDone: Ring
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

  /// Those in the given states; in no particular order.
  public func operations(in states: Set<OperationStatus.State>) -> [OperationStatus] {
    let (done, notDone) = rings.withLock { ($0.done.elements, $0.notDone.elements) }
    let chosen = (states.contains(.finished) ? done : []) + (states.isSubset(of: [.finished]) ? [] : notDone)
    return chosen.map { $0.status() }.filter { states.contains($0.state) }
  }

  /// *Complexity*: O(n) in what is kept.
  public func operation(_ id: Int) -> OperationStatus? {
    let kept = rings.withLock { rings in
      rings.done.elements.first { $0.id == id } ?? rings.notDone.elements.first { $0.id == id }
    }
    return kept?.status()
  }
}

/// An array that overwrites its oldest element once it is full.
private struct Ring {
  typealias Element = (id: Int, status: @Sendable () -> OperationStatus)

  private(set) var elements: [Element] = []
  private let capacity: Int
  /// The oldest, once full.
  private var next = 0

  init(_ capacity: Int) { self.capacity = capacity }

  mutating func add(_ element: Element) {
    guard elements.count == capacity else { return elements.append(element) }
    elements[next] = element
    next = (next + 1) % capacity
  }
}
