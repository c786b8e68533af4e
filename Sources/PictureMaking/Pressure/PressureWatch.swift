import BoundedQueue
import JobSettings
import Locking
import MemoryPressure
import TraceRecording

/// Watches memory pressure while a queue works, and has the queue respond to it.
///
/// A `PressureMonitor` sends events to the ``PressureGovernor``. Its ``PressurePolicy``, a value without clock or
/// queue, decides the response, and the governor carries it out: it pauses the queue, cancels the operations, or
/// resumes. The owner of the queue submits new operations in place of the cancelled ones. ``MemoryPlan`` decides the budget;
/// ``ReservationAudit`` compares the reserved memory with the memory held.
///
/// *Concurrency*: from any thread.
package final class PressureWatch: Sendable {
  private struct Parts {
    let monitor: PressureMonitor
    let governor: PressureGovernor
    let ticker: Ticker
  }

  private let queue: BoundedOperationQueue
  private let memory: MemoryPlan
  private let response: PressureResponse
  private let source: PressureSignalChoice
  private let surroundings: Surroundings
  private let rules: PressureRules
  private let makers: MakerPool
  private let decoders: PictureDecoders
  private let audit: ReservationAudit
  private let onOpening: @Sendable ([PressureSignalReport]) -> Void
  private let onNote: @Sendable (PressureNote) -> Void
  /// Nil before the start, and after the end.
  private let parts = Locked<Parts?>(nil)
  /// Nil before the start. It tells of the pressure also afterwards.
  private let monitor = Locked<PressureMonitor?>(nil)

  /// - Parameters:
  ///   - source: which signals to watch.
  ///   - surroundings: where to read the memory limit, its use and its pressure.
  ///   - rules: the thresholds of pressure levels.
  ///   - makers: and `decoders`: give up what is idle when memory is short.
  ///   - onOpening: receives which signals can be used.
  ///   - onNote: receives each response.
  package init(
    _ memory: MemoryPlan, _ queue: BoundedOperationQueue, response: PressureResponse, source: PressureSignalChoice,
    in surroundings: Surroundings, _ rules: PressureRules, makers: MakerPool, decoders: PictureDecoders,
    onOpening: @escaping @Sendable ([PressureSignalReport]) -> Void, onNote: @escaping @Sendable (PressureNote) -> Void
  ) {
    (self.queue, self.memory, self.response, self.source) = (queue, memory, response, source)
    (self.surroundings, self.rules, self.makers, self.decoders) = (surroundings, rules, makers, decoders)
    (self.onOpening, self.onNote) = (onOpening, onNote)
    audit = ReservationAudit(queue, memory, in: surroundings)
  }

  /// Opens the signals.
  ///
  /// - Parameters:
  ///   - trace: records the work of the watch, and counters.
  ///   - stop: cancels everything, where that is the response to critical memory.
  /// - Throws: `PressureSignalError` if the requested ones cannot be used.
  package func start(
    _ trace: TraceRecorder? = nil, stop: @escaping @Sendable () -> CancelledOperations
  ) throws {
    let governor = PressureGovernor(
      queue: queue, response: response, stop: stop,
      shrink: { [makers, decoders] in
        makers.removeIdle()
        decoders.removeIdle()
        Allocator.shrink()
      }, onNote: onNote)
    let monitor = try PressureMonitor(
      signals: source, rules: memory.rules(rules), under: memory.limit, in: surroundings,
      onOpening: { [onOpening] reports in governor.deliver { onOpening(reports) } }, handler: { governor.handle($0) })
    let ticker = Ticker(name: "memory", every: PressurePolicy.tick) { [audit, decoders, queue] in
      trace.span("ReservationAudit.measure") { audit.measure() }
      decoders.measureMemory()
      trace.span("PressureGovernor.tick") { governor.tick() }
      if let trace { Self.record(queue.counters, monitor.snapshot, in: trace) }
    }
    self.monitor.withLock { $0 = monitor }
    parts.withLock { $0 = Parts(monitor: monitor, governor: governor, ticker: ticker) }
  }

  private static func record(_ counters: QueueCounters, _ pressure: PressureSnapshot, in trace: TraceRecorder) {
    trace.count("operations", [("running", counters.running), ("waiting", counters.waiting)])
    trace.count("memory in MiB", [("reserved", counters.reserved >> 20), ("held", pressure.usage.resident >> 20)])
    trace.count("pressure", [("level", pressure.level.rawValue)])
  }

  /// The governor must know a new maximum first: otherwise it could widen the queue back to the old one.
  package func maxChanges(to max: Int) { parts.withLock { $0?.governor }?.setFullMax(max) }

  /// Ends the watch. A second call does nothing.
  package func finish() {
    // The governor keeps what `stop` keeps, so nothing of that must keep the governor.
    guard let parts = parts.withLock({ $0.take() }) else { return }
    parts.ticker.stop()
    parts.monitor.stop()
    parts.governor.finish()
  }

  /// Nil before the start.
  package var snapshot: PressureSnapshot? { monitor.withLock { $0 }?.snapshot }

  /// Bytes held above the baseline for each reserved byte, at the worst moment; nil if there was no moment to compare.
  package var worstRatio: Double? { audit.worstRatio }
}
