import Foundation
import Locking

/// A process of its own for a form that ends its process, or that must be judged from outside.
public enum Helper {
  /// The program of the lessons. Tests set it, because their own program is another one.
  public static let program = Locked(Bundle.main.executablePath ?? CommandLine.arguments[0])

  /// How a process has ended.
  enum Ending: Equatable, CustomStringConvertible {
    case exited(Int32)
    case signalled(Int32)
    case hung

    var description: String {
      switch self {
      case .exited(0): "the call returns"
      case .exited(let status): "the process ends with status \(status)"
      case .signalled(let signal): "the process ends with signal \(signal)"
      case .hung: "the process hangs"
      }
    }
  }

  /// A trap must end the process at once, and Swift's backtracer would first print for seconds.
  private static let environment = ["SWIFT_BACKTRACE": "enable=no"]

  /// Runs the act of a lesson in a process of its own. One that hangs is killed. Traps if the program cannot be started.
  ///
  /// - Returns: how it has ended, and what it has written to standard error.
  static func run(_ act: Act) -> (ending: Ending, said: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program.withLock { $0 })
    process.arguments = [Act.option, act.rawValue]
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let (output, end, said) = (Pipe(), Gate(), Guarded(Locked("")))
    (process.standardError, process.standardOutput) = (output, FileHandle.nullDevice)
    process.terminationHandler = { _ in end.open() }
    do { try process.run() } catch { fatalError("\(program.withLock { $0 }) cannot be started: \(error)") }
    // Meanwhile, because a process that writes more than a pipe holds would wait for its reader.
    let reading = output.fileHandleForReading
    let reader = Player("reader") {
      let text = String(decoding: reading.readDataToEndOfFile(), as: UTF8.self)
      said.lock.write { $0 = text }
    }
    let hasEnded = end.wait(seconds: act.seconds)
    if !hasEnded {
      kill(process.processIdentifier, SIGKILL)
      end.wait()
    }
    reader.end.wait()
    let status = process.terminationStatus
    let ending: Ending = process.terminationReason == .uncaughtSignal ? .signalled(status) : .exited(status)
    return (hasEnded ? ending : .hung, said.lock.read { $0 })
  }
}
