import Files
import Testing
import Thumbnails

@testable import JobSettings

@Suite struct JobSettingsTests {
  func settings(_ text: String) throws -> JobSettings { try JobSettings(jobFile: Array(text.utf8), at: "x.yml") }

  @Test func theDefaultsAreAsDocumented() throws {
    let settings = JobSettings()
    #expect(settings.outputs[0].folder == "thumbs" && settings.outputs[0].sizes.map(\.description) == ["256x256"])
    #expect(settings.outputs[0].quality == 80 && settings.timeout == .seconds(300) && settings.failOn == .error)
  }

  @Test func anOutputStartsFromTheKeysAtTheTopLevel() throws {
    let job = try settings("quality: 60\nmax: 8\nbacklog: 9\noutputs:\n  - {out: a, quality: 70}\n  - {out: b}")
    #expect(job.outputs.map(\.quality) == [70, 60] && job.outputs.map(\.folder) == ["a", "b"])
    #expect(job.max == 8 && job.backlog == 9)
  }

  @Test func theKeysOfAnOutputOverrideItsPresetWhichOverridesTheTopLevel() throws {
    let job = try settings(
      "quality: 60\npreset: archive\noutputs:\n  - {linear: yes, out: a, preset: web}\n  - {out: b}")
    #expect(job.outputs.map(\.quality) == [75, 60])
    #expect(job.outputs.map(\.subsample) == [.s444, .s444])
    #expect(job.outputs[0].sizes.map(\.name) == ["320x", "640x", "1280x"] && job.outputs[0].linear)
    #expect(job.outputs[1].sizes.map(\.name) == ["2048x2048"])
  }

  @Test func twoOutputsCannotShareAFolder() throws {
    let job = try settings("outputs:\n  - {out: a}\n  - {out: ./a/}")
    #expect(throws: TextError(in: "out", "two outputs share the folder a; give each its own")) { try job.validate() }
  }

  @Test func anOutputThatIsNamedLikeAFileMustExist() throws {
    let text = "none.jpg looks like a file, but is to be the folder of the thumbnails; “name” names them"
    let job = try settings("out: none.jpg")
    #expect(throws: TextError(in: "out", text)) { try job.validate() }
  }

  @Test func theSizesOfAnOutputNeedDifferentNames() throws {
    var job = JobSettings()
    job.outputs[0].sizes = [.known("64"), .known("64x64")]
    #expect(throws: TextError(in: "size", "64x64 is given twice")) {
      try job.validate()
    }
    job.outputs[0].sizes = [.known("a=64"), .known("a=32x9^<")]
    #expect(throws: TextError(in: "size", "two sizes are called a; give them other names, as in small=32x9^<")) {
      try job.validate()
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
  func textsThatAreNotSizesAreRejected(text: String) {
    #expect(throws: TextError.self) { try SizeSpec(parsing: text, for: "--size") }
  }

  @Test(arguments: [("qualty", "quality"), ("sauces", "sources"), ("szie", "size"), ("MAX", "max")])
  func aMisspelledKeyHasASuggestion(word: String, meant: String) {
    #expect(NearestWord.to(word, among: JobSettings.jobFileKeys.flatMap(\.names)) == meant)
  }

  @Test(arguments: ["banana", "foreground", "bogus", "footnote", "detach", "hold"])
  func anUnrelatedWordHasNoSuggestion(word: String) {
    #expect(NearestWord.to(word, among: JobSettings.jobFileKeys.flatMap(\.names)) == nil)
  }
}
