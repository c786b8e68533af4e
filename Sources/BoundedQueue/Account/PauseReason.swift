/// Who keeps a queue from starting anything. Several may at the same time: it goes on when none does any more.
public struct PauseReason: OptionSet, Sendable, Hashable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Somebody asked for it.
  public static let user = PauseReason(rawValue: 1)
  /// Memory is short.
  public static let pressure = PauseReason(rawValue: 2)
}

extension PauseReason: CustomStringConvertible {
  /// Such as `paused by the user`.
  public var description: String {
    var parts: [String] = []
    if contains(.user) { parts.append("paused by the user") }
    if contains(.pressure) { parts.append("paused by memory pressure") }
    return parts.isEmpty ? "not paused" : parts.joined(separator: " and ")
  }
}
