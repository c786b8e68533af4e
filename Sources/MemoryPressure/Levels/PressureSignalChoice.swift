/// The choice of memory pressure signals. Its raw value is the word that a user writes. Each case except `auto` and
/// `off` also names a kind of signals.
///
/// With every choice except `off`, the monitor also compares the memory in use with the limit; with `rss` it does only
/// that.
public enum PressureSignalChoice: String, CaseIterable, Sendable {
  /// The first of the following that can be used.
  case auto
  /// The PSI file, FIFO or socket that `$MEMORY_PRESSURE_WATCH` names.
  case systemd
  /// The stalls and the limit events of the process's cgroup, version 2.
  case cgroup2
  /// The memory of the process's cgroup, version 1, compared with its limit, and the group's pressure levels.
  case cgroup1
  /// The stalls of the whole machine.
  case psi
  #if canImport(Darwin)
  /// The Dispatch source of Apple systems.
  case dispatch
  #endif
  /// Only the memory in use, compared with the limit.
  case rss
  /// No signals.
  case off
}

extension PressureSignalChoice: CustomStringConvertible {
  public var description: String { rawValue }
}
