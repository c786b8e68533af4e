import JobSettings
import Locking
import MemoryPressure
import PictureMaking

/// Watches memory pressure while a job runs. The engine submits new operations for the sources of those that are cancelled.
///
/// *Concurrency*: from any thread.
final class PressureControl: JobCapability {
  /// The engine whose tally counts the responses. Nil before the job runs, and after.
  private final class Counted: Sendable {
    let engine = Locked<Engine?>(nil)
  }

  private let settings: JobSettings
  private let watch: PressureWatch
  private let counted = Counted()

  init?(_ parts: JobParts) {
    settings = parts.settings
    watch = PressureWatch(
      parts.memory, parts.queue, response: settings.onPressure, source: settings.pressureSource, in: parts.surroundings,
      parts.pressureRules, makers: parts.makers, decoders: parts.decoders,
      onOpening: { [onEvent = parts.onEvent] in onEvent(.watching($0)) },
      onNote: { [onEvent = parts.onEvent, counted] note in
        counted.engine.withLock { $0 }?.state.withLock { $0.tally.count(note) }
        onEvent(.pressure(note))
      })
  }

  /// Opens the signals.
  ///
  /// - Throws: `PressureSignalError` if the requested ones cannot be used.
  func start(_ engine: Engine) throws {
    counted.engine.withLock { $0 = engine }
    do { try watch.start(engine.trace) { engine.stop(.pressure) } } catch {
      counted.engine.withLock { $0 = nil }
      throw error
    }
  }

  func maxChanges(to max: Int) { watch.maxChanges(to: max) }

  func finish(_ engine: Engine, _ walk: SourceWalk?) {
    watch.finish()
    counted.engine.withLock { $0 = nil }
  }

  func tell(_ status: inout JobStatus, waitingLimit: Int) { status.pressure = watch.snapshot }

  func tell(_ report: inout JobReport) {
    report.worstMemoryRatio = watch.worstRatio
    if let signals = watch.snapshot?.signals { report.pressureSource = signals }
  }
}

extension JobTally {
  fileprivate mutating func count(_ note: PressureNote) {
    guard note.isChange else { return }
    switch note.level {
    case .warning: pressureWarnings += 1
    case .critical: pressureCriticals += 1
    case .normal: break
    }
  }
}
