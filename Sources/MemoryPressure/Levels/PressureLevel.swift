/// How tight memory is, in three degrees.
public enum PressureLevel: Int, Comparable, CaseIterable, Sendable {
  /// There is room.
  case normal
  /// It is getting tight: begin nothing new that needs memory, and give back what is not in use.
  case warning
  /// The process is about to be killed for want of memory, or everything on the machine stands still: stop what runs.
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
