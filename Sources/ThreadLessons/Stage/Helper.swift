import Foundation
import Locking

/// A process of its own for a form that ends its process, or that must be judged from outside.
public enum Helper {
  /// The program of the lessons. Tests set it, because their own program is another one.
  public static let program = Locked(CommandLine.arguments[0])

  /// How a process has ended.
  struct Ending {
    /// Nil if it has not ended by itself.
    let status: Int32?
    let isBySignal: Bool
    /// What it has written to standard error.
    let said: String
  }

  /// A trap must end the process at once, and Swift's backtracer would first print for seconds.
  private static let environment = ["SWIFT_BACKTRACE": "enable=no"]

  /// Runs the act of a lesson in a process of its own. One that hangs is killed.
  static func run(_ act: Act) -> Ending {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program.withLock { $0 })
    process.arguments = [Act.option, act.rawValue]
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let (output, end) = (Pipe(), Gate())
    (process.standardError, process.standardOutput) = (output, FileHandle.nullDevice)
    process.terminationHandler = { _ in end.open() }
    do { try process.run() } catch { return Ending(status: nil, isBySignal: false, said: "\(error)") }
    let hasEnded = end.wait(seconds: act.seconds)
    if !hasEnded {
      kill(process.processIdentifier, SIGKILL)
      end.wait()
    }
    let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let isBySignal = process.terminationReason == .uncaughtSignal
    return Ending(status: hasEnded ? process.terminationStatus : nil, isBySignal: isBySignal, said: said)
  }
}
