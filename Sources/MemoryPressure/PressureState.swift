import Locking

/// The state that the monitor's thread shares with other threads.
final class PressureState: Sendable {
  private struct Values {
    var snapshot: PressureSnapshot
    var isStopped = false
    var processorTime: Duration?
  }

  private let values: Locked<Values>

  init(_ snapshot: PressureSnapshot) { values = Locked(Values(snapshot: snapshot)) }

  var snapshot: PressureSnapshot { values.withLock { $0.snapshot } }
  var isStopped: Bool { values.withLock { $0.isStopped } }
  var processorTime: Duration? { values.withLock { $0.processorTime } }

  func stop() { values.withLock { $0.isStopped = true } }
  func end(_ processorTime: Duration) { values.withLock { $0.processorTime = processorTime } }
  func set(_ signals: PressureSignalChoice) { values.withLock { $0.snapshot.signals = signals } }
  func set(_ usage: MemoryUsage) { values.withLock { $0.snapshot.usage = usage } }

  /// Records an event before it is emitted; false if the monitor has been stopped and must not emit it.
  func record(_ event: PressureEvent) -> Bool {
    values.withLock { values in
      guard !values.isStopped else { return false }
      switch event {
      case .changed(_, let level, let cause): (values.snapshot.level, values.snapshot.cause) = (level, cause)
      case .criticalAgain(_, let cause): values.snapshot.cause = cause
      case .signalsLost: values.snapshot.signals = .rss
      }
      return true
    }
  }
}
