/// How tight memory is, in three degrees.
public enum PressureLevel: Int, Comparable, CaseIterable, Sendable {
  /// There is enough memory.
  case normal
  /// Memory is getting tight: start nothing that needs memory, and release unused memory.
  case warning
  /// The process may soon be killed, or the whole machine stalls: stop the running work.
  case critical

  public static func < (one: PressureLevel, other: PressureLevel) -> Bool { one.rawValue < other.rawValue }
}

extension PressureLevel: CustomStringConvertible {
  public var description: String {
    switch self {
    case .normal: "normal"
    case .warning: "warning"
    case .critical: "critical"
    }
  }
}
