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

  /// Whether the environment requests signals of some kind.
  static func isRequested(in surroundings: Surroundings) -> Bool {
    kinds.contains { $0.isRequested(in: surroundings) }
  }

  /// Selects the first signals that can be used.
  static func automatic(in surroundings: Surroundings, under limit: MemoryLimit) -> PressureSignalSelection {
    PressureSignalSelection(of: kinds, in: surroundings, under: limit)
  }

  /// - Throws: ``PressureSignalError`` if signals are chosen by name and cannot be used.
  init(
    _ choice: PressureSignalChoice, in surroundings: Surroundings, under limit: MemoryLimit
  ) throws(PressureSignalError) {
    switch choice {
    case .off: self.init()
    case .auto: self.init(of: Self.kinds, in: surroundings, under: limit)
    default:
      self.init(of: Self.kinds.filter { $0.name == choice }, in: surroundings, under: limit)
      if let report = reports.first(where: { $0.signals == choice }), !report.isUsable {
        throw PressureSignalError(signals: choice, reason: report.explanation)
      }
    }
  }

  private init() {}

  private init(
    of kinds: [any PressureSignalProvider.Type], in surroundings: Surroundings, under limit: MemoryLimit
  ) {
    for kind in kinds {
      if ask(kind, in: surroundings, under: limit) { break }
    }
    switch UsageSignals.open(in: surroundings, under: limit) {
    case .usable(let usage):
      reports.append(PressureSignalReport(signals: .rss, isUsable: true, explanation: usage.explanation))
    case .unusable(let reason), .switchedOff(let reason):
      reports.append(PressureSignalReport(signals: .rss, isUsable: false, explanation: reason))
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
