import Files
import Foundation

/// A trigger of the kernel's pressure stall information: the stalled time within a window from which the kernel
/// signals.
///
/// The window is a multiple of 2 s, as the kernel requires of processes without `CAP_SYS_RESOURCE`.
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

  /// GLib's critical level is 100 ms of `full`, as here. Its medium level is 100 ms of `some`, which a busy disk alone
  /// can reach, so the warning needs more here.
  static let both = [
    StallTrigger(degree: .some, stall: .milliseconds(150), level: .warning),
    StallTrigger(degree: .full, stall: .milliseconds(100), level: .critical),
  ]

  var reason: String {
    let what = degree == .some ? "some" : "all"
    return "\(what) threads stalled on memory for \(text(stall)) within \(text(Self.window))"
  }

  /// Registers this trigger with a PSI file. The descriptor then becomes ready with `POLLPRI`, at most once per window.
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
