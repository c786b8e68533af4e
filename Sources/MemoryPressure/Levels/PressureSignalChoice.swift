/// Which signals of memory pressure to use, by the word that a user writes. Each except `auto` and `off` also names a kind
/// of signals.
///
/// With every choice except `off`, the memory in use is measured against the limit too, as `rss` does alone.
public enum PressureSignalChoice: String, CaseIterable, Sendable {
  /// The first of the following that can be used.
  case auto
  /// The PSI file, FIFO or socket that `$MEMORY_PRESSURE_WATCH` names.
  case systemd
  /// The stalls and the limit events of the process's cgroup, version 2.
  case cgroup2
  /// The memory of the process's cgroup, version 1, against its limit, and the kernel's pressure levels.
  case cgroup1
  /// The stalls of the whole machine.
  case psi
  #if canImport(Darwin)
    /// The Dispatch source of Apple systems.
    case dispatch
  #endif
  /// Only the memory in use, against the limit.
  case rss
  /// No signals.
  case off
}

extension PressureSignalChoice: CustomStringConvertible {
  public var description: String { rawValue }
}
