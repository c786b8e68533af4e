import Locking

/// One registered observer of a queue, returned by ``BoundedOperationQueue/observe(_:)``.
public final class QueueObservation: Sendable {
  let body: @Sendable (QueueEvent) -> Void
  private let list: ObserverList

  init(body: @escaping @Sendable (QueueEvent) -> Void, list: ObserverList) {
    self.body = body
    self.list = list
  }

  /// Stops observing. An event that is being delivered at this moment on another thread may still arrive.
  public func cancel() { list.remove(self) }
}

/// The observers of a queue. Delivery uses a copy of the list, so observers can be added and removed at any time, even
/// by an observer.
final class ObserverList: Sendable {
  /// Guards the array only; no observer is called under the lock.
  private let observations = Locked<[QueueObservation]>([])

  func add(_ body: @escaping @Sendable (QueueEvent) -> Void) -> QueueObservation {
    let observation = QueueObservation(body: body, list: self)
    observations.withLock { $0.append(observation) }
    return observation
  }

  func remove(_ observation: QueueObservation) {
    observations.withLock { $0.removeAll { $0 === observation } }
  }

  func deliver(_ event: @autoclosure () -> QueueEvent) {
    let copy = observations.withLock { $0 }
    guard !copy.isEmpty else { return }
    let event = event()
    for observation in copy { observation.body(event) }
  }
}
