import Testing
import Thumbnails

@testable import ThumbnailJobs

@Suite struct JobSettingsTests {
  func overlay(_ text: String) throws -> JobOverlay {
    try JobFile.overlay(of: JobFileText(Array(text.utf8), of: "x.yml"), file: "x.yml")
  }

  @Test func whatNobodySaidHasItsDefault() throws {
    #expect(try JobSettings(JobOverlay()) == JobSettings())
    let settings = JobSettings()
    #expect(settings.outputs[0].folder == "thumbs" && settings.outputs[0].sizes.map(\.description) == ["256x256"])
    #expect(settings.outputs[0].quality == 80 && settings.timeout == .seconds(300) && settings.failOn == .error)
  }

  @Test func theCommandLineWinsOverTheFile() throws {
    var said = JobOverlay()
    said.output.quality = 50
    said.max = 2
    let job = try overlay("quality: 60\nmax: 8\nbacklog: 9\noutputs:\n  - {out: a, quality: 70}\n  - {out: b}")
    let settings = try JobSettings(said, job)
    #expect(settings.outputs.map(\.quality) == [50, 50])
    #expect(settings.max == 2 && settings.backlog == 9)
    #expect(try JobSettings(job).outputs.map(\.quality) == [70, 60])
  }

  @Test func anOutputsOwnWordsWinOverItsPresetAndThatOverTheJobs() throws {
    let job = try overlay(
      "quality: 60\npreset: archive\noutputs:\n  - {out: a, preset: web, linear: yes}\n  - {out: b}")
    let settings = try JobSettings(job)
    #expect(settings.outputs.map(\.quality) == [75, 60])
    #expect(settings.outputs.map(\.subsample) == [.s444, .s444])
    #expect(settings.outputs[0].sizes.map(\.name) == ["320x", "640x", "1280x"] && settings.outputs[0].linear)
    #expect(settings.outputs[1].sizes.map(\.name) == ["2048x2048"])
  }

  @Test func outputsDoNotShareAFolder() throws {
    let job = try overlay("outputs:\n  - {out: a}\n  - {out: ./a/}")
    #expect(throws: TextProblem("out: two outputs share the folder a; give each its own")) { try JobSettings(job) }
  }

  @Test func twoSizesOfAnOutputNeedTwoNames() throws {
    var said = JobOverlay()
    said.output.sizes = [.known("64"), .known("64x64")]
    #expect(throws: TextProblem("size: two sizes are called 64x64; name them apart, as in small=64x64")) {
      try JobSettings(said)
    }
  }

  @Test func verboseAndQuietExcludeEachOther() throws {
    #expect(throws: TextProblem("verbose and quiet cannot both be asked for")) {
      try JobSettings(try overlay("verbose: yes\nquiet: yes"))
    }
  }

  @Test(arguments: [
    ("256", "256x256"), ("320x240^", "320x240-fill"), ("100x100!", "100x100-exact"), ("480x>", "480x"),
    ("x9<", "x9-enlarged"),
    ("small=64", "small"),
  ])
  func aSizeHasANameFitForAFolder(text: String, name: String) throws {
    #expect(try SizeSpec(parsing: text, for: "--size").name == name)
  }

  @Test(arguments: ["", "x", "0", "65501", "1x2x3", "-5", "1^^", "^", "1.5", "a=", "=256", "..=256", "a b=3", "²"])
  func notSizes(text: String) {
    #expect(throws: TextProblem.self) { try SizeSpec(parsing: text, for: "--size") }
  }

  @Test(arguments: [("qualty", "quality"), ("sauces", "sources"), ("szie", "size"), ("MAX", "max")])
  func theNearestWordIsFound(word: String, meant: String) {
    #expect(NearestWord.to(word, among: JobFileReader.jobKeys) == meant)
  }

  @Test func aStrangeWordHasNoNearest() {
    #expect(NearestWord.to("banana", among: JobFileReader.jobKeys) == nil)
  }
}
