import ArgumentParser
import Files
import Foundation
import JobSettings
import TestSupport
import Testing

@testable import thumbjob

/// The settings, the keys of job files, `--help-all` and jobs/README.md must agree. These tests read the table from which
/// the manual page and completions are made, and ArgumentParser `--help-all`.
@Suite(.timeLimit(.minutes(5)))
struct DefaultsTests {
  /// Keys of job files without an option of the same name.
  private static let onlyInJobFiles: Set<String> = ["sources", "sizes", "jobs", "outputs", "poll"]
  /// Settings that are nil by default, because the job computes their value.
  private static let computed: Set<String> = ["max", "backlog", "memory"]

  /// The options of `thumbjob run` and their help.
  private static func options() throws -> [String: String] {
    var options: [String: String] = [:]
    for argument in CommandTable(dump: Thumbjob._dumpHelp()).command(of: []).options {
      let name = try #require(argument.names?.first { $0.kind == .long && $0.name != "jobs" }?.name)
      options[name] = argument.abstract ?? ""
    }
    for name in ["help", "help-all", "version"] { options[name] = nil }
    return options
  }

  /// The defaults in jobs/README.md: the last column of its tables, by key.
  private static func documentedDefaults() throws -> [String: String] {
    let readme = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../jobs/README.md")
      .standardized
    var defaults: [String: String] = [:]
    for line in try String(contentsOf: readme, encoding: .utf8).split(separator: "\n") {
      let cells = line.split(separator: "|", omittingEmptySubsequences: false).map {
        $0.trimmingCharacters(in: .whitespaces)
      }
      guard cells.count == 5, cells[1].hasPrefix("`") else { continue }
      defaults[cells[1].trimmingCharacters(in: ["`"])] = cells[3]
    }
    return defaults
  }

  private static let keys = RunSettings.jobFileKeys.flatMap(\.names)

  @Test func everyKeyHasAnOptionAndEveryOptionAKey() throws {
    #expect(Set(try Self.options().keys) == Set(Self.keys).subtracting(Self.onlyInJobFiles))
  }

  @Test func jobsReadmeDocumentsEveryKey() throws {
    #expect(Set(try Self.documentedDefaults().keys) == Set(Self.keys))
  }

  @Test func theDefaultsInHelpAreThoseOfTheSettings() throws {
    var count = 0
    for (option, help) in try Self.options() {
      guard let text = help.firstMatch(of: /\(default: ([^:)]*)/)?.output.1 else { continue }
      if Self.computed.contains(option) { continue }
      let value = option == "out" ? text.dropFirst(text.hasPrefix("./") ? 2 : 0) : text
      let settings = try RunCommand.parse(["a", "--\(option)", String(value)]).readSettings()
      var expected = RunSettings()
      expected.job.sources = [.path("a")]
      // A gallery has other sizes unless some are given.
      if option == "size" { expected.job.outputs[0].sizes = expected.job.outputs[0].sizes }
      // A layout has another folder unless one is given.
      if option == "out" { expected.job.outputs[0].folder = "thumbs" }
      // The name may say another format unless one is given.
      if option == "format" { expected.job.outputs[0].formats = [.jpeg] }
      #expect(settings == expected, "--\(option) \(value)")
      count += 1
    }
    #expect(count >= 11)
  }

  @Test func theDefaultsInJobsReadmeAreThoseOfTheSettings() throws {
    let none = ["none", "all", "nothing", "never", "no limit", "the private socket", "one output", ""]
    let folder = TemporaryFolder()
    var count = 0
    for (key, text) in try Self.documentedDefaults() where !none.contains(text) && !Self.computed.contains(key) {
      // A value in backticks may be followed by an explanation.
      let value = text.hasPrefix("`") ? text.split(separator: "`")[0] : text[...]
      try folder.write(Array("sources: a\n\(key): \(value)".utf8), to: "x.yml")
      let settings = try RunCommand.parse(["\(folder.path)/x.yml"]).readSettings()
      var expected = RunSettings()
      expected.job.sources = [.path(Path("\(folder.path)/a"))]
      if key == "size" { expected.job.outputs[0].sizes = expected.job.outputs[0].sizes }
      if key == "format" { expected.job.outputs[0].formats = [.jpeg] }
      if key == "out" { expected.job.outputs[0].folder = Path("\(folder.path)/thumbs") }
      #expect(settings == expected, "\(key): \(value)")
      count += 1
    }
    #expect(count >= 15)
  }

  @Test func computedDefaultsAreDescribedAlike() throws {
    let (options, documented) = (try Self.options(), try Self.documentedDefaults())
    let settings = JobSettings()
    #expect(settings.max == nil && settings.backlog == nil && settings.memory == nil)
    for key in Self.computed {
      let text = try #require(options[key]?.firstMatch(of: /\(default: ([^)]*)\)/)?.output.1)
      let words = try #require(documented[key]).replacing("`", with: "")
      #expect(words.hasSuffix(text), "\(key)")
    }
  }
}
