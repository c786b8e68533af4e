import Foundation
import Locking

/// How many requests each client has that are not answered, so that those of few come before those of many.
///
/// *Concurrency*: from any thread; the lock guards the counts. There are no more of them than connections.
final class ClientShares: Sendable {
  private let counts = Locked<[String: Int]>([:])

  func enter(_ client: String) { counts.withLock { $0[client, default: 0] += 1 } }

  func leave(_ client: String) {
    counts.withLock { counts in
      guard let count = counts[client] else { return }
      counts[client] = count > 1 ? count - 1 : nil
    }
  }

  /// The priority of a further operation of a client.
  func priority(of client: String) -> Operation.QueuePriority {
    let (own, clients, all) = counts.withLock { counts in
      (counts[client] ?? 0, counts.count, counts.values.reduce(0, +))
    }
    return Self.priority(own: own, clients: clients, all: all)
  }

  /// - Parameters:
  ///   - own: the client's requests, with this one.
  ///   - clients: all clients.
  ///   - all: the requests of all clients.
  static func priority(own: Int, clients: Int, all: Int) -> Operation.QueuePriority {
    if clients <= 1 { return .normal }
    if own <= 1 { return .veryHigh }
    return own * clients <= all ? .high : .normal
  }
}
