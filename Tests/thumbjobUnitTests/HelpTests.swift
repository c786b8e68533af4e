import Testing

@testable import thumbjob

@Suite(.timeLimit(.minutes(5)))
struct HelpTests {
  private let table = CommandTable(dump: Thumbjob._dumpHelp())

  /// The options that a text names.
  private func options(in text: String) -> Set<Substring> {
    Set(text.matches(of: /(?:^|[ ,(`])(--?[a-z][a-z0-9-]*)/.anchorsMatchLineEndings()).map(\.output.1))
  }

  @Test func shortHelpNamesEveryCommandAndNoOptionThatDoesNotExist() {
    for command in table.commands where !["run", "help"].contains(command.commandName) {
      #expect(ShortHelp.text.contains(" thumbjob \(command.commandName) "), "\(command.commandName)")
    }
    let known = Set(table.commands.flatMap(\.options).flatMap { $0.names ?? [] }.map(\.text))
    // The options of find in an example.
    let unknown = options(in: ShortHelp.text).subtracting(["-type", "-newer", "-print0"]).filter {
      !known.contains(String($0))
    }
    #expect(unknown.isEmpty)
  }

  @Test func theManualPageHasEveryOptionOfEveryCommand() {
    let page = ManualPage.text(table).replacing("\\-", with: "-")
    for command in table.commands where command.commandName != "help" {
      for name in command.options.flatMap({ $0.names ?? [] }).map(\.text)
      where !["-h", "--help", "--version"].contains(name) {
        #expect(page.contains("\\fB\(name)\\fR"), "\(command.commandName) \(name)")
      }
    }
    #expect(!page.contains("compare-variant"))
    #expect(page.contains(".EX\nthumbjob ./images --max 4 "), "an example keeps its line")
    // No other line begins with a character that makes it a request to roff.
    let requests = page.split(separator: "\n").filter { $0.hasPrefix(".") || $0.hasPrefix("'") }
    #expect(
      Set(requests.map { $0.prefix(3) }).isSubset(of: [
        ".TH", ".SH", ".SS", ".TP", ".PP", ".B ", ".nf", ".fi", ".EX", ".EE",
      ]))
  }

  @Test(arguments: RunSettings.refusedByWatch.map { "--\($0)" }) func theHelpOfWatchHasNoOptionThatItRefuses(
    name: String
  ) {
    let (run, watch) = (table.command(of: ["run"]), table.command(of: ["watch"]))
    #expect(run.option(name)?.shouldDisplay == true && watch.option(name)?.shouldDisplay == false)
    #expect(!watch.options.contains { $0.abstract?.contains("\(name) ") == true }, "another option's text names it")
    let (start, next) = (".SS thumbjob watch\n", ".SS thumbjob compare\n")
    let page = ManualPage.text(table).replacing("\\-", with: "-")
    let part = page.split(separator: start).last?.split(separator: next).first
    #expect(part?.contains("\\fB\(name)\\fR") == false && part?.contains("\\fB--poll\\fR") == true)
  }

  @Test func theHelpOfChecksumHasNoOptionThatItRefuses() {
    let (run, checksum) = (table.command(of: ["run"]), table.command(of: ["checksum"]))
    let refused = ["fail-on", "fetch", "isolate", "limit-pixels", "prune", "retry-failed", "verify"]
    for name in refused.map({ "--\($0)" }) {
      #expect(run.option(name)?.shouldDisplay == true && checksum.option(name)?.shouldDisplay == false, "\(name)")
      #expect(checksum.discussion?.contains(name) == true, "\(name)")
    }
    #expect(checksum.option("--per-host")?.shouldDisplay == true && checksum.option("--max")?.shouldDisplay == true)
  }

  @Test func everyExitStatusIsDescribed() {
    let described = Set(Reference.exitStatuses.flatMap { $0.term.split(separator: ", ") }.compactMap { Int32($0) })
    #expect(described.subtracting([130, 143]) == Set(ExitStatus.allCases.map(\.rawValue)))
  }

  @Test(arguments: [
    "banana", "footnote", "detach",
    "grayscale", "cookie-jar", "bogus", "hold",
  ])
  func anOptionThatDoesNotExistHasNoHintUnlessAnotherIsReallyNear(name: String) {
    let text = UsageMistake.text(
      "Unknown option '--\(name)'. Did you mean '--out'?", usage: nil, command: table.command(of: []))
    #expect(text == "unknown option --\(name); see thumbjob --help-all")
  }

  @Test(arguments: [("jsn", "json"), ("exlude", "exclude"), ("onpressure", "on-pressure"), ("qualty", "quality")])
  func aMisspelledOptionHasAHint(name: String, meant: String) {
    let text = UsageMistake.text("Unknown option '--\(name)'", usage: nil, command: table.command(of: []))
    #expect(text == "unknown option --\(name); did you mean --\(meant)?")
  }

  @Test func aMessageOfSeveralLinesBecomesOneLine() {
    let command = table.command(of: [])
    let list = "The value 'x' is invalid. Please provide one of the following:\n  - auto\n  - rss\n  - off"
    #expect(
      UsageMistake.text(list, usage: "Usage: y", command: command)
        == "the value 'x' is invalid. Please provide one of the following: auto, rss, off")
    #expect(
      UsageMistake.text(
        "Unknown option '-ox'\n   or: Missing value for '-o <x>' in '-ox'", usage: nil, command: command)
        == "unknown option '-ox', or: Missing value for '-o <x>' in '-ox'")
  }
}
