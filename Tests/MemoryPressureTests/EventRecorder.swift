import TestSupport

@testable import MemoryPressure

/// Records the events of a monitor.
final class EventRecorder: Sendable {
  private let recorded = LockedBox<[PressureEvent]>([])

  var events: [PressureEvent] { recorded.value }
  var handler: @Sendable (PressureEvent) -> Void { { [recorded] event in recorded.change { $0.append(event) } } }

  /// The levels after each change.
  var levels: [PressureLevel] {
    events.compactMap { event in
      if case .changed(_, let level, _) = event { level } else { nil }
    }
  }

  /// The causes of lost signals.
  var lost: [PressureCause] {
    events.compactMap { event in
      if case .signalsLost(let cause) = event { cause } else { nil }
    }
  }

  /// The counts of repeated critical events.
  var counts: [Int] {
    events.compactMap { event in
      if case .criticalAgain(let count, _) = event { count } else { nil }
    }
  }
}

extension PressureMonitor {
  /// A monitor with times short enough for a test.
  static func quick(
    _ choice: PressureSignalChoice = .auto, _ surroundings: Surroundings, quiet: Duration = .seconds(60),
    handler: @escaping @Sendable (PressureEvent) -> Void = { _ in },
    onOpening: @escaping @Sendable ([PressureSignalReport]) -> Void = { _ in }
  ) throws -> PressureMonitor {
    var rules = PressureRules()
    rules.sampling = .milliseconds(20)
    rules.openingDelay = .zero
    rules.quiet = quiet
    rules.quietAfterCritical = quiet
    return try PressureMonitor(signals: choice, rules: rules, in: surroundings, onOpening: onOpening, handler: handler)
  }
}
