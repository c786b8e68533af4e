import Files
import Foundation

/// A threshold of stalled time above which the kernel reports a stall.
///
/// The window is a multiple of 2 s, as the kernel requires without `CAP_SYS_RESOURCE`.
///
/// *Source*: the kernel's psi document, "Monitoring for pressure thresholds".
struct StallTrigger: Equatable {
  enum Degree: String {
    /// At least one thread waits for memory.
    case some
    /// All runnable threads wait for memory.
    case full
  }

  let degree: Degree
  let stall: Duration
  let level: PressureLevel
  static let window = Duration.seconds(2)

  /// GLib's medium is 100 ms of `some`, which a busy disk alone can reach; its critical is 100 ms of `full`.
  static let both = [
    StallTrigger(degree: .some, stall: .milliseconds(150), level: .warning),
    StallTrigger(degree: .full, stall: .milliseconds(100), level: .critical),
  ]

  var reason: String {
    let what = degree == .some ? "memory stalled" : "memory stalled everything"
    return "\(what) for \(text(stall)) within \(text(Self.window))"
  }

  /// Registers this trigger with a PSI file. The descriptor becomes ready with POLLPRI, at most once per window.
  func watch(_ path: String) throws(SystemError) -> PressureWatch {
    try Self.watch(path, Array("\(degree.rawValue) \(microseconds(stall)) \(microseconds(Self.window))\0".utf8))
  }

  /// Registers a trigger that is given as bytes.
  static func watch(_ path: String, _ trigger: [UInt8]) throws(SystemError) -> PressureWatch {
    let file = try Descriptor.open(path, O_RDWR | O_NONBLOCK)
    guard file.write(trigger) else { throw SystemError(path) }
    return .urgent(file)
  }

  private func microseconds(_ span: Duration) -> Int { Int(span / .microseconds(1)) }
}
