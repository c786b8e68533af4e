import Locking

/// Passes state changes on to all who listen.
///
/// *Concurrency*: the lock guards who listens. Posting never waits for a listener: who is too slow loses events and is told
/// how many. While nobody listens posting costs a lock, and the change is not even built.
public final class EventFeed: Sendable {
  private struct State {
    var listeners: [EventListener] = []
    var isClosed = false
    var limits: EndpointLimits
  }

  private let state: Locked<State>

  public convenience init() { self.init(EndpointLimits()) }

  init(_ limits: EndpointLimits) { state = Locked(State(limits: limits)) }

  /// Tells all listeners, if there are any.
  ///
  /// - Parameter change: built only where somebody listens, outside the lock.
  public func post(_ change: @autoclosure () -> StateChange) {
    let listeners = state.withLock { $0.listeners }
    guard !listeners.isEmpty else { return }
    let change = change()
    for listener in listeners { listener.receive(change) }
  }

  /// Whether anybody listens.
  var hasListeners: Bool { state.withLock { !$0.listeners.isEmpty } }

  /// A new listener, to be left with ``remove(_:)``; nil where there are as many as may be, or none may be any more.
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

  /// Ends all listening, and lets nobody listen any more.
  func close() {
    let listeners = state.withLock { state in
      state.isClosed = true
      return state.listeners
    }
    for listener in listeners { listener.finish() }
  }
}
