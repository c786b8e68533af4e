import ArgumentParser
import Foundation
import ThumbnailJobs

/// A subcommand that answers signals itself; for any other they do what they do by default.
protocol SignalAnswering {}

/// The command. Its first act, before any thread is started, is to hold back the signals that a job answers.
@main
struct Thumbjob: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "thumbjob",
    abstract: "Makes JPEG thumbnails of whole folders with a queue that never piles up.",
    usage: "thumbjob [run] <source> ... [options]",
    version: "0.1.0",
    subcommands: [
      RunCommand.self, CompareCommand.self, StatusCommand.self, CancelCommand.self, PauseCommand.self,
      ResumeCommand.self,
      ReportCommand.self, VariantCommand.self,
    ],
    defaultSubcommand: RunCommand.self)

  static let examples = """
    Examples:
      thumbjob ./images                     a folder, into ./thumbs
      thumbjob ./images --max 4 -o out      four at once, into another folder
      thumbjob . -s 320x200^ -s large=1600  two sizes, the first cropped to fill
      thumbjob jobs/gallery.yml             a job file; options beside it win
      find . -newer mark -print0 | thumbjob --files0-from -
      thumbjob compare ./images             the same work by a queue without bounds, beside this one
    While it runs:
      thumbjob status [PID] [--watch]       what runs, what waits and why
      thumbjob cancel [PID [OPERATION]]     one operation, or all; thumbjob pause, thumbjob resume
      kill -USR1 PID    prints what runs and what waits
      kill -USR2 PID    cancels everything; a later run goes on from there
    """

  static func main() {
    SignalListener.holdBack()
    StandardStream.reserve()
    Allocator.bound()
    ProcessLimits.raiseOpenFiles()
    var arguments = CommandWords.forParser
    // The root's own help would list one subcommand and none of its options.
    if let first = arguments.first, ["--help", "-h", "help"].contains(first), arguments.count == 1 {
      arguments = ["run", "--help"]
    }
    do {
      var command = try parseAsRoot(arguments)
      if !(command is any SignalAnswering) { SignalListener.letThrough() }
      try command.run()
    } catch {
      leave(error)
    }
  }

  /// Help goes to standard output as it is. What is wrong goes to standard error, with nothing in it that a terminal would
  /// obey: it repeats what was said.
  private static func leave(_ error: any Error) -> Never {
    let code = exitCode(for: error)
    let message = fullMessage(for: error)
    if code == .success {
      _ = StandardStream.write(message.isEmpty ? "" : message + "\n", to: STDOUT_FILENO)
    } else if !message.isEmpty {
      Console().say(message)
    }
    exit(withError: code)
  }
}
