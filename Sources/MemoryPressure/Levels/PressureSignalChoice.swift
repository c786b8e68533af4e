/// Which source of memory pressure to listen to, by the word a user writes. Each but `auto` and `off` also names a source.
///
/// Whatever is chosen but `off`, the memory held is measured beside it against the limit, as `rss` does alone.
public enum PressureSignalChoice: String, CaseIterable, Sendable {
  /// The first of those below, in their order, that can be used.
  case auto
  /// What `$MEMORY_PRESSURE_WATCH` names: a PSI file, a FIFO or a socket.
  case systemd
  /// The stalls and the limit events of the process's cgroup, version 2.
  case cgroup2
  /// The memory of the process's cgroup, version 1, against its limit, and the kernel's word on how hard it tries.
  case cgroup1
  /// The stalls of the whole machine.
  case psi
  #if canImport(Darwin)
    /// The Dispatch source of Apple systems.
    case dispatch
  #endif
  /// Nothing but the memory held, against the limit.
  case rss
  /// Nothing at all.
  case off
}

extension PressureSignalChoice: CustomStringConvertible {
  public var description: String { rawValue }
}
