/// The source in use, and what each one asked had to say.
struct PressureSourcePick {
  /// The source beside ``UsageSource``; nil for none.
  private(set) var source: (any PressureSource)?
  private(set) var reports: [PressureSourceReport] = []

  /// In the order of preference.
  private static var kinds: [any PressureSource.Type] {
    var kinds: [any PressureSource.Type] = [
      SystemdSource.self, Cgroup2Source.self, Cgroup1Source.self, StallSource.self,
    ]
    #if canImport(Darwin)
      kinds.append(DispatchPressureSource.self)
    #endif
    return kinds
  }

  /// - Throws: ``PressureSourceError`` where a source is chosen by name and cannot be used.
  init(
    _ choice: PressureSourceChoice, in surroundings: Surroundings, under limit: MemoryLimit
  ) throws(PressureSourceError) {
    guard choice != .off else { return }
    for kind in Self.kinds where choice == .auto || choice == kind.name {
      if ask(kind, in: surroundings, under: limit) { break }
    }
    if choice != .auto, let report = reports.last, !report.isUsable {
      throw PressureSourceError(source: choice, reason: report.explanation)
    }
    switch UsageSource.open(in: surroundings, under: limit) {
    case .usable(let usage):
      reports.append(PressureSourceReport(source: .rss, isUsable: true, explanation: usage.explanation))
    case .unusable(let reason), .switchedOff(let reason):
      reports.append(PressureSourceReport(source: .rss, isUsable: false, explanation: reason))
      if choice == .rss { throw PressureSourceError(source: .rss, reason: reason) }
    }
  }

  /// Whether that is an answer to go by, and no other source is to be asked.
  private mutating func ask(
    _ kind: any PressureSource.Type, in surroundings: Surroundings, under limit: MemoryLimit
  ) -> Bool {
    switch kind.open(in: surroundings, under: limit) {
    case .usable(let usable):
      source = usable
      reports.append(PressureSourceReport(source: kind.name, isUsable: true, explanation: usable.explanation))
      return true
    case .unusable(let reason):
      reports.append(
        PressureSourceReport(
          source: kind.name, isUsable: false, isAskedFor: kind.isAskedFor(in: surroundings), explanation: reason))
      return false
    case .switchedOff(let reason):
      reports.append(PressureSourceReport(source: kind.name, isUsable: false, explanation: reason))
      return true
    }
  }
}
