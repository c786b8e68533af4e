import ArgumentParser
import Foundation
import ThumbnailJobs

/// The root command. Before the process has a second thread, it blocks the signals that a job handles.
@main
struct Thumbjob: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "thumbjob",
    abstract: "Makes JPEG thumbnails of whole folders with a queue that never piles up.",
    usage: "thumbjob [run] <source> ... [options]",
    version: Version.current,
    subcommands: [
      RunCommand.self, CompareCommand.self, StatusCommand.self, CancelCommand.self, PauseCommand.self,
      ResumeCommand.self, ReportCommand.self, VariantCommand.self,
    ],
    defaultSubcommand: RunCommand.self)

  static func main() {
    SignalListener.block()
    StandardStream.reserve()
    Allocator.bound()
    ProcessLimits.raiseOpenFiles()
    var arguments = CommandWords.forParser
    // The help of the root command would list the subcommands but none of the options of `run`.
    if let first = arguments.first, ["--help", "-h", "help"].contains(first), arguments.count == 1 {
      arguments = ["run", "--help"]
    }
    do {
      var command = try parseAsRoot(arguments)
      if !(command is any SignalHandlingCommand) { SignalListener.unblock() }
      try command.run()
    } catch {
      exit(reporting: error)
    }
  }

  /// Help goes to standard output unchanged. Errors go to standard error with escaped control characters, because they
  /// quote the command line.
  private static func exit(reporting error: any Error) -> Never {
    let code = exitCode(for: error)
    let message = fullMessage(for: error)
    if code == .success {
      _ = StandardStream.write(message.isEmpty ? "" : message + "\n", to: STDOUT_FILENO)
    } else if !message.isEmpty {
      Console().print(message)
    }
    exit(withError: code)
  }
}
