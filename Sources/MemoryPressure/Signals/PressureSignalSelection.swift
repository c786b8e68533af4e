/// The selected provider, and a report on each kind of signals that was tried.
struct PressureSignalSelection {
  /// The provider used in addition to ``UsageSignals``; nil for none.
  private(set) var provider: (any PressureSignalProvider)?
  private(set) var reports: [PressureSignalReport] = []

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

  /// - Throws: ``PressureSignalError`` if signals are chosen by name and cannot be used.
  init(
    _ choice: PressureSignalChoice, in surroundings: Surroundings, under limit: MemoryLimit
  ) throws(PressureSignalError) {
    guard choice != .off else { return }
    for kind in Self.kinds where choice == .auto || choice == kind.name {
      if ask(kind, in: surroundings, under: limit) { break }
    }
    if choice != .auto, let report = reports.last, !report.isUsable {
      throw PressureSignalError(signals: choice, reason: report.explanation)
    }
    switch UsageSignals.open(in: surroundings, under: limit) {
    case .usable(let usage):
      reports.append(PressureSignalReport(signals: .rss, isUsable: true, explanation: usage.explanation))
    case .unusable(let reason), .switchedOff(let reason):
      reports.append(PressureSignalReport(signals: .rss, isUsable: false, explanation: reason))
      if choice == .rss { throw PressureSignalError(signals: .rss, reason: reason) }
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
