import Files
import Foundation
import JobSettings
import TestSupport
import Testing

@testable import thumbjob

@Suite(.timeLimit(.minutes(5)))
struct RunSettingsTests {
  private let folder = TemporaryFolder()

  /// The settings of `thumbjob run` with a job file and further words.
  private func settings(_ jobFile: String, _ words: String...) throws -> RunSettings {
    try folder.write(Array(jobFile.utf8), to: "x.yml")
    return try RunCommand.parse(["\(folder.path)/x.yml"] + words).readSettings()
  }

  @Test func aJobFileSetsTheRunAsWellAsTheJob() throws {
    let settings = try settings(
      "sources: a\nmax: 3\njson: true\nprogress: plain\nverbose: yes\nquiet: no\ntrace: t.json\nstatus: unix:/s")
    #expect(settings.job.max == 3 && settings.json && settings.progress == .plain)
    #expect(settings.verbose && !settings.quiet)
    #expect(settings.trace == Path("\(folder.path)/t.json") && settings.status == .unix("/s"))
  }

  @Test func theCommandLineOverridesTheJobFileAndAllItsOutputs() throws {
    let text = "sources: a\nquality: 60\nmax: 8\nbacklog: 9\noutputs:\n  - {out: a, quality: 70}\n  - {out: b}"
    let overridden = try settings(text, "--quality", "50", "--max", "2")
    #expect(overridden.job.outputs.map(\.quality) == [50, 50])
    #expect(overridden.job.max == 2 && overridden.job.backlog == 9)
    #expect(try settings(text).job.outputs.map(\.quality) == [70, 60])
    #expect(try settings(text, "b").job.sources == [.path("b")])
  }

  @Test func aContradictionNamesTheJobFileOnlyIfTheFileHasIt() throws {
    let message = "cannot be asked for together with verbose"
    #expect(throws: JobFileError(in: Path("\(folder.path)/x.yml"), "quiet: \(message)")) {
      try settings("sources: a\nverbose: yes\nquiet: yes")
    }
    #expect(throws: TextError(in: "quiet", message)) { try settings("sources: a", "--quiet", "--verbose") }
    #expect(try settings("sources: a\nverbose: yes", "--quiet").quiet)
    #expect(try settings("sources: a\nquiet: yes", "--verbose").quiet == false)
  }

  @Test func aBadStatusAddressIsNamedWithItsPosition() throws {
    let error = #expect(throws: JobFileError.self) { try settings("sources: a\nstatus: nowhere") }
    #expect(
      error?.description.hasSuffix(
        "x.yml:2:9: status: “nowhere” is not an address: it is neither unix:PATH nor HOST:PORT nor off") == true)
  }
}
