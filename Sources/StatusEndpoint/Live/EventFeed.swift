import Locking

/// Distributes state changes to all listeners.
///
/// *Concurrency*: the lock guards the list of listeners. Posting never waits for a listener: a slow listener loses events
/// and learns how many. Without listeners, posting costs a lock, and the change is not created.
public final class EventFeed: Sendable {
  private struct State {
    var listeners: [EventListener] = []
    var isClosed = false
    var limits: EndpointLimits
  }

  private let state: Locked<State>

  public convenience init() { self.init(EndpointLimits()) }

  init(_ limits: EndpointLimits) { state = Locked(State(limits: limits)) }

  /// Sends a change to all listeners.
  ///
  /// - Parameter change: evaluated only if there are listeners, outside the lock.
  public func post(_ change: @autoclosure () -> StateChange) {
    let listeners = state.withLock { $0.listeners }
    guard !listeners.isEmpty else { return }
    let change = change()
    for listener in listeners { listener.receive(change) }
  }

  /// Whether there are listeners.
  var hasListeners: Bool { state.withLock { !$0.listeners.isEmpty } }

  /// Adds a listener, which ``remove(_:)`` removes; nil if there is no room for one more, or the feed is closed.
  func listen() -> EventListener? {
    state.withLock { state in
      guard !state.isClosed, state.listeners.count < state.limits.listeners else { return nil }
      let listener = EventListener(capacity: state.limits.eventsWaiting)
      state.listeners.append(listener)
      return listener
    }
  }

  func remove(_ listener: EventListener) {
    state.withLock { $0.listeners.removeAll { $0 === listener } }
  }

  /// Ends all listeners, and accepts no more.
  func close() {
    let listeners = state.withLock { state in
      state.isClosed = true
      return state.listeners
    }
    for listener in listeners { listener.finish() }
  }
}
