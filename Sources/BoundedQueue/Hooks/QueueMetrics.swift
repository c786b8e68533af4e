#if MetricsSupport
import CoreMetrics

extension BoundedOperationQueue {
  /// Keeps metrics of the queue. All have the dimension `queue`, the queue's name.
  ///
  /// | metric | kind | meaning |
  /// | --- | --- | --- |
  /// | `LABEL_ended` | counter | operations by the dimension `outcome`: `succeeded`, `failed`, `cancelled` |
  /// | `LABEL_waited`, `LABEL_ran` | timers | how long an operation has waited for its place, and how long it has run |
  /// | `LABEL_waiting`, `LABEL_running` | meters | operations that are waiting and running |
  /// | `LABEL_reserved_bytes` | meter | bytes of the budget that are reserved |
  ///
  /// The package trait `MetricsSupport` brings it.
  ///
  /// - Parameters:
  ///   - label: what the names begin with.
  ///   - factory: makes the metrics; default: that of `MetricsSystem`.
  @discardableResult
  public func record(
    label: String = "bounded_queue", factory: any MetricsFactory = MetricsSystem.factory
  ) -> QueueObservation {
    let metrics = QueueMetrics(label, queue: name, factory)
    return observe { [weak self] event in
      if case .stage = event.change { return }
      if case .ended(let outcome) = event.change { metrics.count(outcome, event.operation.snapshot()) }
      if let counters = self?.counters { metrics.show(counters) }
    }
  }
}

/// The metrics of a queue. swift-metrics guards their values.
private struct QueueMetrics: Sendable {
  private let succeeded, failed, cancelled: Counter
  private let waited, ran: CoreMetrics.Timer
  private let waiting, running, reserved: Meter

  init(_ label: String, queue: String, _ factory: any MetricsFactory) {
    let queue = ("queue", queue)
    func counter(_ outcome: String) -> Counter {
      Counter(label: "\(label)_ended", dimensions: [queue, ("outcome", outcome)], factory: factory)
    }
    func timer(_ name: String) -> CoreMetrics.Timer {
      Timer(label: "\(label)_\(name)", dimensions: [queue], preferredDisplayUnit: .seconds, factory: factory)
    }
    func meter(_ name: String) -> Meter { Meter(label: "\(label)_\(name)", dimensions: [queue], factory: factory) }
    (succeeded, failed, cancelled) = (counter("succeeded"), counter("failed"), counter("cancelled"))
    (waited, ran) = (timer("waited"), timer("ran"))
    (waiting, running, reserved) = (meter("waiting"), meter("running"), meter("reserved_bytes"))
  }

  func count(_ outcome: Outcome, _ snapshot: OperationSnapshot) {
    switch outcome {
    case .succeeded: succeeded.increment()
    case .failed: failed.increment()
    case .cancelledWhileWaiting, .cancelledWhileRunning: cancelled.increment()
    }
    waited.recordNanoseconds(Int64(snapshot.waited / .nanoseconds(1)))
    if case .cancelledWhileWaiting = outcome { return }
    ran.recordNanoseconds(Int64(snapshot.ran / .nanoseconds(1)))
  }

  func show(_ counters: QueueCounters) {
    waiting.set(counters.waiting)
    running.set(counters.running)
    reserved.set(counters.reserved)
  }
}
#endif
