/// Why a queue is paused. Several reasons can apply at once; the queue resumes when none is left.
public struct PauseReason: OptionSet, Sendable, Hashable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The user paused it.
  public static let user = PauseReason(rawValue: 1)
  /// Memory is short.
  public static let pressure = PauseReason(rawValue: 2)
  /// Too much of what operations have made is not taken yet.
  public static let output = PauseReason(rawValue: 4)
}

extension PauseReason: CustomStringConvertible {
  /// A phrase such as `paused by the user`.
  public var description: String {
    var parts: [String] = []
    if contains(.user) { parts.append("paused by the user") }
    if contains(.pressure) { parts.append("paused by memory pressure") }
    if contains(.output) { parts.append("paused until results are taken") }
    return parts.isEmpty ? "not paused" : parts.joined(separator: " and ")
  }
}
