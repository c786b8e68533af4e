import ArgumentParser
import Files
import JobSettings
import Testing

@testable import thumbjob

/// `Thumbjob.command` avoids the root command where it can, and must return the same command as it.
@Suite(.timeLimit(.minutes(5)))
struct RootCommandTests {
  /// The command of these words with all its values, or the message about a mistake in them.
  private func outcome(_ parse: ([String]) throws -> any ParsableCommand, _ words: [String]) -> String {
    var text = ""
    do { dump(try parse(words), to: &text) } catch { text = Thumbjob.fullMessage(for: error) }
    return text
  }

  private static let lines = [
    "", "a", "run a", "a b c", "./status", "a run", "-- a -o", "-- status", "- --json", "a -- --json",
    "a -o out --max 4", "a -oout -s256", "a --out=out --quality=90 -v", "a -qv", "a --max=-1", "a --max many",
    "a --no-such-option", "a --max", "a -o", "a -s 64 -s small=320 --keep exif --keep gps", "-o status a", "-s compare",
    "a --memory 1G --memory-limit 1G --on-pressure pause", "a --json --progress plain", "a --jobs", "a --version",
    "a --help", "a -h", "--version", "--help", "-h", "--help-all", "help", "help run", "help status", "status",
    "status 12 --json", "status --no-such-option", "cancel 12", "pause", "resume --all", "compare a --max 2",
    "compare", "report", "report r.json", "variant", "comparee", "run", "run run", "run status", "run --help-all",
    "--generate-completion-script bash", "--json", "--files-from list --hidden", "a --include *.jpg --exclude x/",
    "a --out= b", "a --exclude=", "a -ssmall=320", "a -size", "a -o-", "a --json=", "a --json=yes", "a -o -x",
    "a --max=+3",
    "a --quality 80 --quality 90", "a --progress sometimes", "a -s 8 -- -b", "--prune a", "a --prune=all",
  ]

  @Test(arguments: lines) func theCommandIsThatOfTheRootCommand(_ line: String) {
    let words = line.split(separator: " ").map(String.init)
    #expect(outcome(Thumbjob.command, words) == outcome({ try Thumbjob.parseAsRoot($0) }, words))
  }

  @Test(arguments: lines) func aPlainCommandLineMeansWhatTheParserReads(_ line: String) throws {
    let words = CommandWords.withValues(line.split(separator: " ").map(String.init))
    guard let plain = PlainRun(words, isCommand: Thumbjob.isCommand) else { return }
    let parsed = try #require(try Thumbjob.parseAsRoot(words) as? RunCommand)
    func outcome(_ read: () throws -> RunSettings) -> Result<RunSettings, TextError> {
      Result { () throws(TextError) in do { return try read() } catch { throw TextError("\(error)") } }
    }
    #expect(outcome(plain.readSettings) == outcome(parsed.readSettings))
  }

  private static func isPlain(_ line: String) -> Bool {
    let words = CommandWords.withValues(line.split(separator: " ").map(String.init))
    return PlainRun(words, isCommand: Thumbjob.isCommand) != nil
  }

  @Test(arguments: [
    "a", "run a", "a b -o out --max 4", "a -s256", "a --size=64 --size small=320 --keep exif,icc --prune -v", "-",
  ]) func usualCommandLinesArePlain(_ line: String) { #expect(Self.isPlain(line)) }

  @Test(arguments: [
    "a -o=out", "a --out= b", "a -ssmall=320", "a -qv", "a --", "a status", "a --max many", "a --version", "a --out",
    "a --json=yes", "a --no-such",
  ]) func otherCommandLinesAreLeftToTheParser(_ line: String) { #expect(!Self.isPlain(line)) }
}
