#if DEBUG
import Foundation

/// The orders in which threads have taken locks.
///
/// Threads that take two locks in two orders can wait for each other for ever, though they rarely do. So each order is
/// recorded as an edge from the lock that was held to the one that was taken. An edge that would close a circle is a
/// mistake, even if no thread waits at that moment.
///
/// The nodes are single locks, and not the places where locks are made. Places would find mistakes before the same two
/// locks were taken in both orders. But they would accuse a tree whose nodes have a lock each, where a parent is always
/// locked before its child: both locks are made at the same place. What is reported here is a mistake for certain, if
/// the two orders can happen at the same time.
///
/// *Concurrency*: every member may be called from any thread. A mutex without checks guards the edges.
final class LockOrder: @unchecked Sendable {  // the mutex guards the edges
  static let shared = LockOrder()

  /// One lock was taken while another one was held.
  private struct Edge {
    let text: String
    let stack: CallStack
  }

  /// More edges are not recorded, so that the memory for them is bounded: to some 30 MiB, with the addresses of a stack for each.
  private static let capacity = 1 << 16

  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private var edges: [UInt64: [UInt64: Edge]] = [:]
  /// From which locks an edge leads to a lock.
  private var origins: [UInt64: Set<UInt64>] = [:]
  private var count = 0

  private init() {
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  /// Records that the current thread takes `second` while it holds `first`.
  ///
  /// - Returns: nil, or a text for people if this contradicts the orders of before.
  func add(_ first: LockRecord, before second: LockRecord) -> String? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    if edges[first.number]?[second.number] != nil { return nil }
    let text = "\(ThreadIdentity.current.name) takes \(second) while it holds \(first)"
    if let path = path(from: second.number, to: first.number) {
      return "locks are taken in two orders: \(text)\n\(CallStack())"
        + path.map { "\nbefore: \($0.text)\n\($0.stack)" }.joined()
    }
    guard count < Self.capacity else { return nil }
    first.isInOrder.store(true, ordering: .relaxed)
    second.isInOrder.store(true, ordering: .relaxed)
    edges[first.number, default: [:]][second.number] = Edge(text: text, stack: CallStack())
    origins[second.number, default: []].insert(first.number)
    count += 1
    return nil
  }

  /// A lock that is destroyed is in no order any more.
  func remove(_ lock: UInt64) {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    for target in (edges.removeValue(forKey: lock) ?? [:]).keys {
      origins[target]?.remove(lock)
      count -= 1
    }
    for origin in origins.removeValue(forKey: lock) ?? [] where edges[origin]?.removeValue(forKey: lock) != nil {
      count -= 1
      if edges[origin]?.isEmpty == true { edges[origin] = nil }
    }
  }

  /// The number of recorded edges, for tests.
  var edgeCount: Int {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return count
  }

  /// A shortest path along the edges; nil if there is none.
  private func path(from start: UInt64, to goal: UInt64) -> [Edge]? {
    var (cameFrom, open): ([UInt64: UInt64], ArraySlice<UInt64>) = ([start: start], [start])
    while let lock = open.popFirst(), lock != goal {
      for next in (edges[lock] ?? [:]).keys where cameFrom[next] == nil {
        cameFrom[next] = lock
        open.append(next)
      }
    }
    guard cameFrom[goal] != nil else { return nil }
    var (path, lock): ([Edge], UInt64) = ([], goal)
    while lock != start, let origin = cameFrom[lock], let edge = edges[origin]?[lock] {
      path.append(edge)
      lock = origin
    }
    return path.reversed()
  }
}
#endif
