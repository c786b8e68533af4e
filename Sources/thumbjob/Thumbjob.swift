import ArgumentParser
import Foundation
import JobSettings
import PictureMaking

/// The root command. Before the process has a second thread, it blocks the signals that a job handles.
@main
struct Thumbjob: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "thumbjob",
    abstract: "Makes JPEG thumbnails of whole folders with a queue that never piles up.",
    usage: "thumbjob [run] <source> ... [options]",
    discussion: """
      A source is a folder, a file or a job file. Thumbnails that are up to date are skipped, so a second run makes only \
      the new ones. At any moment you can see what runs and what waits, and stop it; no half-written file remains.

      Data goes to standard output, and everything for people to standard error.
      """,
    version: Version.description, subcommands: subcommands, defaultSubcommand: RunCommand.self)

  static let subcommands: [any Subcommand.Type] = [
    RunCommand.self, WatchCommand.self, CompareCommand.self, StatusCommand.self, CancelCommand.self, PauseCommand.self,
    ResumeCommand.self, ReportCommand.self, SplitCommand.self, ChecksumCommand.self, ServeCommand.self,
    ThumbnailCommand.self,
    VariantCommand.self,
  ]

  static func main() {
    SignalListener.block()
    StandardStream.reserve()
    do {
      let words = CommandWords.forPeople
      if words.isEmpty { showHelp() }
      if let text = try requestedText(words) { return try StandardStream.put(text) }
      Allocator.bound()
      ProcessLimits.raiseOpenFiles()
      try rejectMisspelledCommand(words.first ?? "")
      if let run = PlainRun(CommandWords.forParser, isCommand: isCommand) {
        Foundation.exit(try RunSession.run(run.readSettings).rawValue)
      }
      var command = try command(CommandWords.forParser)
      if let run = command as? RunCommand, run.helpAll { return try StandardStream.put(fullHelp) }
      if (type(of: command) as? any Subcommand.Type)?.handlesSignals != true { SignalListener.unblock() }
      try command.run()
    } catch let status as ExitCode {
      // All messages are printed. `exit(reporting:)` would first make the help text.
      Foundation.exit(status.rawValue)
    } catch {
      exit(reporting: error)
    }
  }

  /// The command that the words name, or `run`: what `parseAsRoot` returns. Words without the name of a command are
  /// first tried as those of `run`, because the root command takes a millisecond longer: it builds the list of `run`'s
  /// options several times. Mistakes and requests for help are left to the root command, whose messages show how it was
  /// called.
  static func command(_ words: [String]) throws -> any ParsableCommand {
    guard !words.contains(where: isCommand), let run = try? RunCommand.parseAsRoot(words) as? RunCommand else {
      return try parseAsRoot(words)
    }
    return run
  }

  static func isCommand(_ word: String) -> Bool { word == "help" || subcommands.contains { $0.name == word } }

  /// Without any word there is nothing to do, and mostly someone wants to know what there is. It fails all the same, for
  /// a script with an empty variable.
  private static func showHelp() -> Never {
    Console().print(String(ShortHelp.text.dropLast()))
    exit(withError: ExitStatus.usage.code)
  }

  /// Help goes to standard output unchanged. Errors go to standard error with escaped control characters, because they
  /// quote the command line.
  private static func exit(reporting error: any Error) -> Never {
    if let error = error as? TextError {
      Console().print("thumbjob: \(error.optionDescription)")
      exit(withError: ExitStatus.usage.code)
    }
    let code = exitCode(for: error)
    let text = fullMessage(for: error)
    if code == .success {
      if !text.isEmpty {
        do { try StandardStream.put(text + "\n") } catch { exit(withError: error) }
      }
    } else if !text.isEmpty {
      Console().print("thumbjob: \(mistake(message(for: error), text))")
    }
    exit(withError: code)
  }
}
