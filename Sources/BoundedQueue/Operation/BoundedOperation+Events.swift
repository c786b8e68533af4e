// Delivers the events of an operation to the observers of its queue, in order.

extension BoundedOperation {
  /// Delivers an event, or leaves it to a call that is already delivering events of this operation.
  ///
  /// Do not use it for `.ended`. Use ``deliverEnd(to:)``, whose caller frees the operation's place.
  func post(_ change: QueueEvent.Change) {
    let event = QueueEvent(operation: self, change: change, instant: .now)
    let queue = state.withLock { state -> BoundedOperationQueue? in
      guard let queue = state.queue, state.post(event) else { return nil }
      return queue
    }
    guard let queue else { return }
    if deliverPosted(to: queue) { queue.departed(self) }
  }

  /// Delivers the event that the queue accepted the operation. `join` has reserved the right to deliver for this call.
  ///
  /// - Returns: true if the end of the operation was delivered too: the caller must then free its place.
  func deliverAccepted(to queue: BoundedOperationQueue) -> Bool {
    let instant = state.withLock { $0.accept() }
    queue.observers.deliver(QueueEvent(operation: self, change: .waiting, instant: instant))
    return deliverPosted(to: queue)
  }

  /// Delivers the end of the operation.
  ///
  /// - Returns: true if this call delivered it: the caller must then free the place. False if another call is already
  ///   delivering events of this operation: it delivers the end too, and its caller frees the place.
  func deliverEnd(to queue: BoundedOperationQueue) -> Bool {
    let mine = state.withLock { state -> Bool in
      guard case .ended(let outcome, let instant, _, _) = state.phase else { return false }
      return state.post(QueueEvent(operation: self, change: .ended(outcome), instant: instant))
    }
    return mine && deliverPosted(to: queue)
  }

  private func deliverPosted(to queue: BoundedOperationQueue) -> Bool {
    var ended = false
    while let event = state.withLock({ $0.nextEvent() }) {
      queue.observers.deliver(event)
      if case .ended = event.change { ended = true }
    }
    return ended
  }
}
