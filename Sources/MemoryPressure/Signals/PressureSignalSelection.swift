/// The selected provider, and a report on each kind of signals that was tried.
struct PressureSignalSelection {
  /// The provider used in addition to ``UsageSignals``; nil for none.
  private(set) var provider: (any PressureSignalProvider)?
  private(set) var reports: [PressureSignalReport] = []
  /// Set if signals are chosen by name and cannot be used.
  private(set) var error: PressureSignalError?

  /// The kinds of signals, in the order of preference.
  private static var kinds: [any PressureSignalProvider.Type] {
    var kinds: [any PressureSignalProvider.Type] = [
      SystemdSignals.self, Cgroup2Signals.self, Cgroup1Signals.self, StallSignals.self,
    ]
    #if canImport(Darwin)
      kinds.append(DispatchSignals.self)
    #endif
    return kinds
  }

  /// Whether the environment requests signals of some kind.
  static func isRequested(in surroundings: Surroundings) -> Bool {
    kinds.contains { $0.isRequested(in: surroundings) }
  }

  init(_ choice: PressureSignalChoice, in surroundings: Surroundings, under limit: MemoryLimit) {
    guard choice != .off else { return }
    for kind in Self.kinds where choice == .auto || choice == kind.name {
      if ask(kind, in: surroundings, under: limit) { break }
    }
    if choice != .auto, let report = reports.last, !report.isUsable {
      error = PressureSignalError(signals: choice, reason: report.explanation)
    }
    switch UsageSignals.open(in: surroundings, under: limit) {
    case .usable(let usage):
      reports.append(PressureSignalReport(signals: .rss, isUsable: true, explanation: usage.explanation))
    case .unusable(let reason), .switchedOff(let reason):
      reports.append(PressureSignalReport(signals: .rss, isUsable: false, explanation: reason))
      if choice == .rss { error = PressureSignalError(signals: .rss, reason: reason) }
    }
  }

  /// Tries one kind; true if the selection is final and no other kind is to be tried.
  private mutating func ask(
    _ kind: any PressureSignalProvider.Type, in surroundings: Surroundings, under limit: MemoryLimit
  ) -> Bool {
    switch kind.open(in: surroundings, under: limit) {
    case .usable(let usable):
      provider = usable
      reports.append(PressureSignalReport(signals: kind.name, isUsable: true, explanation: usable.explanation))
      return true
    case .unusable(let reason):
      reports.append(
        PressureSignalReport(
          signals: kind.name, isUsable: false, isRequested: kind.isRequested(in: surroundings), explanation: reason))
      return false
    case .switchedOff(let reason):
      reports.append(PressureSignalReport(signals: kind.name, isUsable: false, explanation: reason))
      return true
    }
  }
}
