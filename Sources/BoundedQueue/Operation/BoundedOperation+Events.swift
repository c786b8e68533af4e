extension BoundedOperation {
  /// Tells the observers of the operation's queue, in order, on this thread or on the one that is telling them already.
  ///
  /// Not for `.ended`, after which the queue must be told too: see ``deliverEnd(to:)``.
  func post(_ change: QueueEvent.Change) {
    let event = QueueEvent(operation: self, change: change, instant: .now)
    let queue = state.withLock { state -> BoundedOperationQueue? in
      guard let queue = state.queue, state.post(event) else { return nil }
      return queue
    }
    guard let queue else { return }
    if deliverPosted(to: queue) { queue.departed(self) }
  }

  /// Tells the observers that the queue has accepted the operation, with the right to deliver that `join` gave.
  ///
  /// - Returns: true when the end of the operation was among what was delivered: the caller must tell the queue.
  func deliverAccepted(to queue: BoundedOperationQueue) -> Bool {
    queue.observers.deliver(
      QueueEvent(operation: self, change: .waiting, instant: state.withLock { $0.acceptedAt() }))
    return deliverPosted(to: queue)
  }

  /// Tells the observers how the operation ended.
  ///
  /// - Returns: true when they have heard it: the caller must tell the queue. False when another thread is telling them;
  ///   it will tell the queue then.
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
