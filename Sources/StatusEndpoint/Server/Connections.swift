#if Endpoint
import Locking
import NIOCore

/// The open connections, up to a limit. If there is no room for a new one, the one that has waited longest for a complete
/// request is closed, so that a client with many idle connections cannot lock others out.
///
/// *Concurrency*: the lock guards the connections; channels are closed outside it.
package final class Connections: Sendable {
  private struct Connection {
    let channel: any Channel
    /// When it began to wait for a request, as a running number; nil while a request is answered.
    var askingSince: Int?
  }

  private struct State {
    var connections: [ObjectIdentifier: Connection] = [:]
    var turn = 0
    var isClosed = false

    var longestAsking: (key: ObjectIdentifier, value: Connection)? {
      connections.filter { $0.value.askingSince != nil }
        .min { $0.value.askingSince ?? .max < $1.value.askingSince ?? .max }
    }
  }

  private let state = Locked(State())
  private let capacity: Int

  package init(capacity: Int) { self.capacity = capacity }

  package var count: Int { state.withLock { $0.connections.count } }

  /// Adds a connection; false if it must be closed.
  func admit(_ channel: any Channel) -> Bool {
    let (isAdmitted, evicted) = state.withLock { state -> (Bool, (any Channel)?) in
      guard !state.isClosed else { return (false, nil) }
      var evicted: (any Channel)?
      if state.connections.count >= capacity {
        guard let longest = state.longestAsking else { return (false, nil) }
        state.connections[longest.key] = nil
        evicted = longest.value.channel
      }
      state.turn += 1
      state.connections[ObjectIdentifier(channel)] = Connection(channel: channel, askingSince: state.turn)
      return (true, evicted)
    }
    evicted?.close(promise: nil)
    return isAdmitted
  }

  package func update(_ channel: any Channel, isAsking: Bool) {
    state.withLock { state in
      state.turn += 1
      state.connections[ObjectIdentifier(channel)]?.askingSince = isAsking ? state.turn : nil
    }
  }

  func forget(_ channel: any Channel) {
    _ = state.withLock { $0.connections.removeValue(forKey: ObjectIdentifier(channel)) }
  }

  /// Accepts no more connections, and closes idle ones now and the others after their answers.
  func quiesce() {
    let channels = state.withLock { state in
      state.isClosed = true
      return state.connections.values.map(\.channel)
    }
    for channel in channels { channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }
  }

  /// Closes all connections at once.
  func closeAll() {
    let channels = state.withLock { state in
      state.isClosed = true
      return state.connections.values.map(\.channel)
    }
    for channel in channels { channel.close(promise: nil) }
  }
}
#endif
