/// The memory of a run at one moment, all in bytes.
public struct MemoryStatus: Codable, Sendable, Equatable {
  /// Reserved by running operations now.
  public var reservedBytes: Int
  /// The most bytes that were reserved at once.
  public var peakReservedBytes: Int
  /// The most bytes that running operations may reserve together.
  public var budgetBytes: Int
  /// Resident memory of the process, as the kernel counts it.
  public var residentBytes: Int
  /// The memory limit of the process: that of its group, or the machine's memory.
  public var limitBytes: Int

  enum CodingKeys: String, CodingKey {
    case reservedBytes = "reserved_bytes"
    case peakReservedBytes = "peak_reserved_bytes"
    case budgetBytes = "budget_bytes"
    case residentBytes = "resident_bytes"
    case limitBytes = "limit_bytes"
  }

  public init(reservedBytes: Int, peakReservedBytes: Int, budgetBytes: Int, residentBytes: Int, limitBytes: Int) {
    self.reservedBytes = reservedBytes
    self.peakReservedBytes = peakReservedBytes
    self.budgetBytes = budgetBytes
    self.residentBytes = residentBytes
    self.limitBytes = limitBytes
  }
}

/// How tight memory is.
public struct PressureStatus: Codable, Sendable, Equatable {
  public enum Level: String, Codable, Sendable, CaseIterable {
    case normal, warning, critical
  }

  public var level: Level
  /// The signals in use, such as `psi` or `cgroup2`.
  public var source: String
  /// The cause of the level; nil before its first change.
  public var cause: String?
  /// How often the level became warning, and critical.
  public var warnings: Int
  public var criticals: Int

  public init(level: Level, source: String, cause: String? = nil, warnings: Int = 0, criticals: Int = 0) {
    self.level = level
    self.source = source
    self.cause = cause
    self.warnings = warnings
    self.criticals = criticals
  }
}
