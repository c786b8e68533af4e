#if MetricsSupport
import CoreMetrics

extension BoundedOperationQueue {
  /// Keeps metrics of the operations. All have the dimension `queue`, the queue's name.
  ///
  /// | metric | kind | meaning |
  /// | --- | --- | --- |
  /// | `LABEL_ended` | counter | operations by the dimension `outcome`: `succeeded`, `failed`, `cancelled` |
  /// | `LABEL_waited`, `LABEL_ran` | timers | how long an operation has waited to run, and how long it has run |
  /// | `LABEL_waiting`, `LABEL_running` | meters | accepted operations that wait, and those that run |
  ///
  /// Call it before the first submission: the meters begin at 0. The package trait `MetricsSupport` brings it.
  ///
  /// - Parameters:
  ///   - label: what the names begin with.
  ///   - factory: makes the metrics; default: that of `MetricsSystem`.
  @discardableResult
  public func recordMetrics(
    label: String = "bounded_queue", factory: any MetricsFactory = MetricsSystem.factory
  ) -> QueueObservation {
    let metrics = QueueMetrics(label, queue: name, factory)
    return observe { event in
      switch event.change {
      case .waiting: metrics.waiting.increment()
      case .started:
        metrics.waiting.decrement()
        metrics.running.increment()
      case .stage: break
      case .ended(let outcome): metrics.end(outcome, event.operation.snapshot())
      }
    }
  }
}

/// The metrics of a queue. swift-metrics guards their values.
private struct QueueMetrics: Sendable {
  let waiting, running: Meter
  private let succeeded, failed, cancelled: Counter
  private let waited, ran: CoreMetrics.Timer

  init(_ label: String, queue: String, _ factory: any MetricsFactory) {
    let queue = ("queue", queue)
    func counter(_ outcome: String) -> Counter {
      Counter(label: "\(label)_ended", dimensions: [queue, ("outcome", outcome)], factory: factory)
    }
    func timer(_ name: String) -> CoreMetrics.Timer {
      Timer(label: "\(label)_\(name)", dimensions: [queue], preferredDisplayUnit: .seconds, factory: factory)
    }
    func meter(_ name: String) -> Meter {
      let meter = Meter(label: "\(label)_\(name)", dimensions: [queue], factory: factory)
      meter.set(0)
      return meter
    }
    (waiting, running) = (meter("waiting"), meter("running"))
    (succeeded, failed, cancelled) = (counter("succeeded"), counter("failed"), counter("cancelled"))
    (waited, ran) = (timer("waited"), timer("ran"))
  }

  func end(_ outcome: Outcome, _ snapshot: OperationSnapshot) {
    switch outcome {
    case .succeeded: succeeded.increment()
    case .failed: failed.increment()
    case .cancelledWhileWaiting, .cancelledWhileRunning: cancelled.increment()
    }
    waited.recordNanoseconds(Int64(snapshot.waited / .nanoseconds(1)))
    if case .cancelledWhileWaiting = outcome { return waiting.decrement() }
    running.decrement()
    ran.recordNanoseconds(Int64(snapshot.ran / .nanoseconds(1)))
  }
}
#endif
