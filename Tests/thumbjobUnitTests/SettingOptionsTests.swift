import ArgumentParser
import Files
import Foundation
import JobSettings
import Sourcing
import Testing

@testable import thumbjob

@Suite(.timeLimit(.minutes(5)))
struct SettingOptionsTests {
  private func settings(_ words: String...) throws -> RunSettings {
    try RunCommand.parse(["a"] + words).readSettings()
  }

  @Test func anOptionSetsItsSetting() throws {
    let settings = try settings(
      "-s64", "--size", "small=32", "--keep=icc,exif", "--keep", "copyright", "--prune=all", "-j", "3", "-v")
    let output = settings.job.outputs[0]
    #expect(output.sizes.map(\.name) == ["64x64", "small"] && output.keep == [.icc, .exif, .copyright])
    #expect(settings.job.prune == .all && settings.job.max == 3 && settings.verbose)
    #expect(try self.settings("--jobs=4").job.max == 4)
  }

  @Test func aListFollowsTheOtherSources() throws {
    let list = SourceArgument.list(SourceList(file: "l", separator: .nul))
    #expect(try settings("--files0-from", "l", "b").job.sources == [.path("a"), .path("b"), list])
    #expect(try RunCommand.parse(["--files0-from=l"]).readSettings().job.sources == [list])
  }

  @Test(arguments: [("--quality=0", "0 is not within 1 to 100"), ("--halt=x", "“x” is neither")])
  func aBadValueNamesItsOption(word: String, fault: String) throws {
    let error = #expect(throws: TextError.self) { try settings(word) }
    let option = try #require(word.split(separator: "=").first)
    #expect(error?.description.hasPrefix("\(option): \(fault)") == true)
  }

  @Test func theWordsGiveAnotherProcessTheSameOptions() throws {
    let given = try SettingOptions<EncodingGroup>.parse(["-s9", "--size=a=8", "-q", "7", "--linear", "--subsample=444"])
    #expect(given.words == ["--size=9", "--size=a=8", "--quality=7", "--subsample=444", "--linear"])
    var (one, other) = (RunSettings(), RunSettings())
    try given.given.apply(to: &one)
    try SettingOptions<EncodingGroup>.parse(given.words).given.apply(to: &other)
    #expect(one == other && one != RunSettings())
  }

  /// A value of each setting that a watch refuses, other than the default.
  private static let refused: [String: String?] = [
    "contact-sheet": "x.pdf", "dry-run": nil, "files0-from": "x", "for": "1s", "force": nil, "halt": "3",
    "html-standalone": nil,
    "metrics-file": "x.prom",
    "progress": "bar", "shard": "0/2", "sheet-grid": "2x2", "trace": "x",
    "wait": nil,
  ]

  @Test func everySettingThatAWatchRefusesIsKnown() {
    #expect(RunSettings.refusedByWatch == Self.refused.keys.sorted())
    let last = RunSettings.refusedByWatch.suffix(2).map { "--\($0)" }.joined(separator: " and ")
    #expect(WatchCommand.configuration.discussion.hasSuffix("\(last)."))
  }

  @Test(arguments: refused.keys.sorted()) func aWatchRefusesASetting(name: String) throws {
    let value = try #require(Self.refused[name])
    let word = value.map { "--\(name)=\($0)" } ?? "--\(name)"
    // Without a gallery, this one has no meaning at all.
    var settings = name == "html-standalone" ? try settings(word, "--html=web") : try settings(word)
    try settings.validate()
    settings.job.watch = WatchSettings()
    let error = #expect(throws: TextError.self) { try settings.validate() }
    #expect(error?.setting == name)
  }

  @Test func docsNameEverySettingThatAWatchRefuses() throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/watch.md").standardized
    let text = try String(contentsOf: file, encoding: .utf8)
    for name in RunSettings.refusedByWatch { #expect(text.contains("`--\(name)`"), "\(name)") }
  }
}
