import BoundedQueue
import JobSettings
import Locking
import MemoryPressure
import PictureMaking
import TraceRecording

/// Watches memory pressure while a job runs, and has the job respond to it.
///
/// A `PressureMonitor` sends events to the ``PressureGovernor``. Its ``PressurePolicy``, a value without clock or
/// queue, decides the response, and the governor carries it out: it pauses the queue, cancels the operations, or
/// resumes. The engine submits new operations for the sources of the cancelled ones. `MemoryPlan` decides the budget;
/// `ReservationAudit` compares the reserved memory with the memory held.
///
/// *Concurrency*: from any thread.
final class PressureControl: JobCapability {
  private struct Watch {
    let monitor: PressureMonitor
    let governor: PressureGovernor
    let ticker: Ticker
  }

  private let settings: JobSettings
  private let memory: MemoryPlan
  private let surroundings: Surroundings
  private let rules: PressureRules
  private let makers: MakerPool
  private let decoders: PictureDecoders
  private let audit: ReservationAudit
  private let onOpening: @Sendable ([PressureSignalReport]) -> Void
  private let onNote: @Sendable (PressureNote) -> Void
  /// Nil before the job runs, and after.
  private let watch = Locked<Watch?>(nil)
  /// Nil before the job runs. It tells of the pressure also afterwards.
  private let monitor = Locked<PressureMonitor?>(nil)

  convenience init?(_ parts: JobParts) {
    let onEvent = parts.onEvent
    self.init(
      parts.settings, parts.memory, parts.queue, in: parts.surroundings, parts.pressureRules, makers: parts.makers,
      decoders: parts.decoders, onOpening: { onEvent(.watching($0)) }, onNote: { onEvent(.pressure($0)) })
  }

  /// - Parameters:
  ///   - surroundings: where to read the memory limit, its use and its pressure.
  ///   - rules: the thresholds of pressure levels.
  ///   - makers: and `decoders`: give up what is idle when memory is short.
  ///   - onOpening: receives which signals can be used.
  ///   - onNote: receives each response.
  init(
    _ settings: JobSettings, _ memory: MemoryPlan, _ queue: BoundedOperationQueue, in surroundings: Surroundings,
    _ rules: PressureRules, makers: MakerPool, decoders: PictureDecoders,
    onOpening: @escaping @Sendable ([PressureSignalReport]) -> Void, onNote: @escaping @Sendable (PressureNote) -> Void
  ) {
    (self.settings, self.memory, self.surroundings, self.rules) = (settings, memory, surroundings, rules)
    (self.makers, self.decoders, self.onOpening, self.onNote) = (makers, decoders, onOpening, onNote)
    audit = ReservationAudit(queue, memory, in: surroundings)
  }

  /// Opens the signals.
  ///
  /// - Throws: `PressureSignalError` if the requested ones cannot be used.
  func start(_ engine: Engine) throws {
    let governor = governor(of: engine)
    let monitor = try PressureMonitor(
      signals: settings.pressureSource, rules: memory.rules(rules), under: memory.limit, in: surroundings,
      onOpening: { [onOpening] reports in governor.deliver { onOpening(reports) } }, handler: { governor.handle($0) })
    let ticker = Ticker(name: "memory", every: PressurePolicy.tick) { [audit, decoders] in
      engine.trace.span("ReservationAudit.measure") { audit.measure() }
      decoders.measureMemory()
      engine.trace.span("PressureGovernor.tick") { governor.tick() }
      Self.trace(engine, monitor.snapshot)
    }
    self.monitor.withLock { $0 = monitor }
    watch.withLock { $0 = Watch(monitor: monitor, governor: governor, ticker: ticker) }
  }

  private func governor(of engine: Engine) -> PressureGovernor {
    PressureGovernor(
      queue: engine.queue, response: settings.onPressure, stop: { engine.stop(.pressure) },
      shrink: { [makers, decoders] in
        makers.removeIdle()
        decoders.removeIdle()
        Allocator.shrink()
      },
      onNote: { [onNote] note in
        engine.state.withLock { $0.tally.count(note) }
        onNote(note)
      })
  }

  private static func trace(_ engine: Engine, _ pressure: PressureSnapshot) {
    guard let trace = engine.trace else { return }
    let counters = engine.queue.counters
    trace.count("operations", [("running", counters.running), ("waiting", counters.waiting)])
    trace.count("memory in MiB", [("reserved", counters.reserved >> 20), ("held", pressure.usage.resident >> 20)])
    trace.count("pressure", [("level", pressure.level.rawValue)])
  }

  /// The governor must know the new maximum first: otherwise it could widen the queue back to the old one.
  func maxChanges(to max: Int) { watch.withLock { $0?.governor }?.setFullMax(max) }

  func finish(_ engine: Engine, _ walk: SourceWalk?) {
    // The governor keeps the engine, so nothing of the engine must keep the governor.
    guard let watch = watch.withLock({ $0.take() }) else { return }
    watch.ticker.stop()
    watch.monitor.stop()
    watch.governor.finish()
  }

  func tell(_ status: inout JobStatus, waitingLimit: Int) { status.pressure = monitor.withLock { $0 }?.snapshot }

  func tell(_ report: inout JobReport) {
    report.worstMemoryRatio = audit.worstRatio
    if let signals = monitor.withLock({ $0 })?.snapshot.signals { report.pressureSource = signals }
  }
}
