import Foundation
import TestSupport
import Testing

extension CommandTests {
  @Suite struct Help {
    private func run(_ arguments: String...) async throws -> BuiltCommand.Ending {
      try await BuiltCommand.run(executable: BuiltCommand.path, arguments, in: TemporaryFolder())
    }

    /// The lines of a text on standard output, each at most 80 characters wide.
    private func lines(of ending: BuiltCommand.Ending) -> [Substring] {
      let lines = ending.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      #expect(ending.status == 0 && ending.errors.isEmpty, "\(ending.errors)")
      #expect(lines.filter { $0.count > 80 }.isEmpty)
      return Array(lines)
    }

    @Test func helpIsOneScreen() async throws {
      let help = try await run("--help")
      let lines = lines(of: help)
      #expect(lines.count <= 32)
      #expect(lines.contains("Usage: thumbjob SOURCE... [options]     a folder, file, job file (*.yml), or -"))
      #expect(lines.contains("  thumbjob ./images --max 4                   # a folder, into ./thumbs"))
      #expect(lines.contains("  find . -type f -newer mark -print0 | thumbjob --files0-from -"))
      for words in [["-h"], ["help"], ["help", "help"], ["images", "--help"], ["-v", "-h"]] {
        let other = try await BuiltCommand.run(executable: BuiltCommand.path, words, in: TemporaryFolder())
        #expect(other.output == help.output && other.status == 0, "\(words)")
      }
    }

    @Test func helpOnACommandListsItsOptions() async throws {
      let run1 = try await run("run", "--help")
      #expect(lines(of: run1).contains { $0.hasPrefix("  --pressure-source <name>") })
      #expect(try await run("help", "run").output == run1.output)
      let status = try await run("status", "--help")
      #expect(
        lines(of: status).contains { $0.hasPrefix("USAGE: thumbjob status ") } && !status.output.contains("--out"))
      #expect(try await run("help", "status").output == status.output)
      let unknown = try await run("help", "statsu")
      #expect(unknown.status == 64)
      #expect(unknown.errors == "thumbjob: there is no command “statsu”; did you mean status?\n")
    }

    @Test func helpAllListsEveryCommandAndTheExitStatuses() async throws {
      let all = try await run("--help-all")
      let lines = lines(of: all)
      for command in ["[run]", "watch", "compare", "status", "cancel", "pause", "resume", "report", "checksum"] {
        #expect(lines.contains { $0.hasPrefix("USAGE: thumbjob \(command) ") }, "\(command)")
      }
      #expect(lines.contains("EXIT STATUS:") && lines.contains("SIGNALS:") && !all.output.contains("compare-variant"))
    }

    @Test(arguments: ["--help", "--help-all", "status --help", "--version", "--generate-completion-script bash"])
    func aTextThatCannotBeWrittenIsExitStatus74(arguments: String) async throws {
      let ending = try await BuiltCommand.run(
        executable: "/bin/sh", ["-c", "exec \"$0\" \(arguments) > /dev/full", BuiltCommand.path], in: TemporaryFolder())
      #expect(ending.status == 74 && ending.errors == "thumbjob: standard output: No space left on device\n")
      let closed = try await BuiltCommand.run(
        executable: "/bin/bash", ["-c", "\"$0\" \(arguments) | true; exit ${PIPESTATUS[0]}", BuiltCommand.path],
        in: TemporaryFolder())
      #expect(closed.status == 0 && closed.errors.isEmpty)
    }

    @Test func eachShellHasACompletionScript() async throws {
      for (shell, words) in [
        ("bash", "complete -F _thumbjob"), ("zsh", "#compdef thumbjob"), ("fish", "complete -c thumbjob"),
      ] {
        let script = try await run("--generate-completion-script", shell)
        #expect(script.status == 0 && script.output.contains(words))
        #expect(try await run("--generate-completion-script=\(shell)").output == script.output)
      }
      let unknown = try await run("--generate-completion-script", "tcsh")
      #expect(unknown.status == 64)
      #expect(unknown.errors == "thumbjob: --generate-completion-script: “tcsh” is not one of bash, zsh, fish\n")
    }
  }
}
