import Files
import Foundation
import Testing
import Thumbnails

@testable import JobSettings
@testable import Sourcing

extension JobSettings {
  /// The defaults, changed by the text of a job file.
  init(jobFile bytes: [UInt8], at file: Path) throws {
    self.init()
    try JobFile.read(
      JobFileText(bytes, of: file), of: file, keys: JobFileKey.job(\.self), dash: JobFileTests.dash, into: &self)
  }
}

@Suite(.timeLimit(.minutes(5)))
struct JobFileTests {
  let file: Path = "jobs/x.yml"

  /// The list that `-` stands for.
  static func dash(_ separator: SourceList.Separator) -> SourceList {
    SourceList(descriptor: 0, name: "-", separator: separator)
  }

  func read(_ text: String) throws -> JobSettings { try read(bytes: Array(text.utf8)) }

  func read(bytes: [UInt8]) throws -> JobSettings { try JobSettings(jobFile: bytes, at: file) }

  func read(file: Path) throws -> JobSettings {
    var settings = JobSettings()
    try JobFile.read(file, keys: JobFileKey.job(\.self), dash: Self.dash, into: &settings)
    return settings
  }

  /// The lines of the error; none if the text is valid.
  func lines(_ text: String) -> [String] { lines(bytes: Array(text.utf8)) }

  func lines(bytes: [UInt8]) -> [String] {
    do {
      _ = try read(bytes: bytes)
      return []
    } catch { return "\(error)".split(separator: "\n").map(String.init) }
  }

  @Test func theOrderOfTheKeysDoesNotMatter() throws {
    #expect(try read("files0-from: l\nsources: s").sources == read("sources: s\nfiles0-from: l").sources)
  }

  @Test func keysSetTheirSettings() throws {
    let job = try read(
      """
      sources: [no-such, /abs/photo.jpg, "-"]
      files0-from: list
      include: "*.jpg"
      exclude: [draft*, cache/]
      follow: yes
      out: here
      size: name=320x240^
      quality: 91
      progressive: on
      subsample: 444
      keep: [icc, exif]
      linear: true
      max: 3
      backlog: 12
      force: no
      fail-on: warning
      limit-pixels: 500M
      timeout: 1m30s
      retries: 2
      dry-run: true
      halt: 5%
      for: 1h
      """)
    #expect(
      job.sources == [
        .path("jobs/no-such"), .path("/abs/photo.jpg"), .list(Self.dash(.newline)),
        .list(SourceList(file: "jobs/list", separator: .nul)),
      ])
    let globs = try ["*.jpg", "draft*", "cache/"].map { try Glob($0) }
    let output = job.outputs[0]
    #expect(job.filter == SourceFilter(includes: [globs[0]], excludes: [globs[1], globs[2]]))
    #expect(job.followsLinks && output.folder == "jobs/here")
    #expect(output.sizes == [try SizeSpec(parsing: "name=320x240^")])
    #expect(output.quality == 91 && output.progressive && output.linear)
    #expect(output.subsample == .s444 && output.keep == [.icc, .exif])
    #expect(job.max == 3 && job.backlog == 12 && !job.force && job.failOn == .warning)
    #expect(job.limitPixels == 500_000_000 && job.timeout == .seconds(90) && job.retries == 2)
    #expect(job.dryRun && job.halt == .percent(5) && job.runFor == .seconds(3600))
  }

  @Test(arguments: [
    ("sources: a\nqualty: 80", "jobs/x.yml:2:1: unknown key “qualty”; did you mean “quality”?"),
    ("sources: a\noutput: b", "jobs/x.yml:2:1: unknown key “output”; did you mean “out”?"),
    ("sources: a\nmax_procs: 2", "jobs/x.yml:2:1: unknown key “max_procs”; did you mean “max”?"),
    (
      "sources: $HOME/a",
      "jobs/x.yml:1:10: sources: write the path in full instead of $HOME, or ./$HOME for that name"
    ),
    ("out: ${HOME}/a", "jobs/x.yml:1:6: out: write the path in full instead of ${HOME}, or ./${HOME} for that name"),
    ("sources: a\nexlude: b", "jobs/x.yml:2:1: unknown key “exlude”; did you mean “exclude”?"),
    ("quality: high", "jobs/x.yml:1:10: quality: expected a whole number, found “high”"),
    ("quality: 101", "jobs/x.yml:1:10: quality: 101 is not within 1 to 100"),
    ("quality: [80]", "jobs/x.yml:1:10: quality: expected a number, found a list"),
    ("quality:", "jobs/x.yml:1:9: quality: expected a number, found nothing"),
    ("max: 99999999999999999999", "jobs/x.yml:1:6: max: expected a whole number, found “99999999999999999999”"),
    ("follow: maybe", "jobs/x.yml:1:9: follow: expected yes or no, found “maybe”"),
    (
      "fail-on: eror",
      "jobs/x.yml:1:10: fail-on: “eror” is not one of truncated, error, warning; did you mean “error”?"
    ),
    ("subsample: 422", "jobs/x.yml:1:12: subsample: “422” is not one of 420, 444, auto; did you mean “420”?"),
    ("keep: [xmp]", "jobs/x.yml:1:8: keep: “xmp” is not one of icc, exif, gps, copyright"),
    ("preset: wbe", "jobs/x.yml:1:9: preset: “wbe” is not one of web, gallery, archive; did you mean “web”?"),
    (
      "size: 0x10",
      "jobs/x.yml:1:7: size: “0x10” is not a size: 0 pixels is outside 1 to 65500; for example 256 or 300x200^"
    ),
    (
      "size: a/b=10",
      "jobs/x.yml:1:7: size: “a/b=10” is not a size: a name is letters, digits, “.”, “_” and “-”; for example small=10"
    ),
    ("size: {}", "jobs/x.yml:1:7: size: name at least one size"),
    (
      "sizes: {a: 0}",
      "jobs/x.yml:1:12: sizes: “a=0” is not a size: 0 pixels is outside 1 to 65500; for example 256 or 300x200^"
    ),
    ("out: [a]", "jobs/x.yml:1:6: out: expected one value, found a list"),
    ("outputs: [x]", "jobs/x.yml:1:11: expected the keys of an output, such as “out: …”, found “x”"),
    ("prune: maybe", "jobs/x.yml:1:8: prune: expected yes or no, found “maybe”"),
    ("size: [256, 256]", "jobs/x.yml:1:7: size: 256x256 is given twice"),
    ("timeout: soon", "jobs/x.yml:1:10: timeout: “soon” is not a duration; write 90s, 5m, 1h30m or 250ms"),
    (
      "outputs: web",
      "jobs/x.yml:1:10: outputs: expected a list of outputs, each with a key “out”, found “web”"
    ),
    (
      "outputs:\n  - max: 3",
      "jobs/x.yml:2:5: unknown key “max”; an output has out, layout, preset, size, sizes, format, quality, lossless, effort, progressive, subsample, keep, linear, background, previews, name"
    ),
    (
      "banana: 1G",
      "jobs/x.yml:1:1: unknown key “banana”; a job has "
        + JobSettings.jobFileKeys.flatMap(\.names).joined(separator: ", ")
    ),
    ("[a, b]", "jobs/x.yml:1:1: expected the keys of a job, such as “sources: …”, found a list"),
    ("? [a]\n: b", "jobs/x.yml:1:3: a key must be a word, not a list"),
    ("", "jobs/x.yml:1:1: is empty; name at least the sources"),
    ("# only words", "jobs/x.yml:1:1: is empty; name at least the sources"),
    ("exclude: [*.jpg]", "jobs/x.yml:1:11: put a value that starts with * in quotes, such as \"*.jpg\""),
    ("exclude: *drafts", "jobs/x.yml:1:10: put a value that starts with * in quotes, such as \"*.jpg\""),
    ("quality: 1\nquality: 2", "jobs/x.yml:1:1: “quality” is given more than once; this is the first"),
    ("sources: a\n---\nsources: b", "jobs/x.yml:2:1: a second document begins here; a job file has only one"),
    ("sources: -", "jobs/x.yml:1:10: put a single dash, which stands for standard input, in quotes: \"-\""),
    ("files0-from: -\nmax: 3", "jobs/x.yml:1:14: put a single dash, which stands for standard input, in quotes: \"-\""),
    ("sources: a\nname: %d/%s", "jobs/x.yml:2:7: put a value that starts with % in quotes, such as \"%s-small\""),
    (
      "sources: ~/a",
      "jobs/x.yml:1:10: sources: write the path to the home folder in full instead of ~, or ./~ for a folder of that name"
    ),
    (
      "sources: a\nname: x",
      "jobs/x.yml:2:7: name: “x” has none of %s, %f, %u and %U, so all photos of a folder would have one place"
    ),
    ("sources: - # input", "jobs/x.yml:1:10: put a single dash, which stands for standard input, in quotes: \"-\""),
    ("exclude: - a", "jobs/x.yml:1:10: begin the list on the next line, or write it as [a, b]"),
    ("sources: [a", "jobs/x.yml:2:1: not YAML: did not find expected ',' or ']'"),
    ("\tsources: a", "jobs/x.yml:1:1: not YAML: found character that cannot start any token"),
  ])
  func aMistakeIsReportedWithItsPosition(text: String, line: String) {
    #expect(lines(text) == [line])
  }

  @Test func aByteOrderMarkIsIgnored() throws {
    #expect(lines(bytes: [0xef, 0xbb, 0xbf] + Array("qualty: 1".utf8)) == lines("qualty: 1"))
  }

  @Test func allMistakesAreReportedInTheOrderOfTheirLines() {
    #expect(
      lines("qualty: 1\nmax: none\noutputs:\n  - out: a\n    quality: 0\n") == [
        "jobs/x.yml:1:1: unknown key “qualty”; did you mean “quality”?",
        "jobs/x.yml:2:6: max: expected a whole number, found “none”",
        "jobs/x.yml:5:14: quality: 0 is not within 1 to 100",
      ])
  }

  @Test func theKeysThatThereAreFollowTheFirstUnknownOneOnly() {
    let lines = lines("banana: 1\ncherry: 2\nqualty: 3\n")
    #expect(lines.count == 3 && lines[0].contains("“banana”; a job has sources, "), "\(lines)")
    #expect(lines[1] == "jobs/x.yml:2:1: unknown key “cherry”")
    #expect(lines[2] == "jobs/x.yml:3:1: unknown key “qualty”; did you mean “quality”?")
  }

  @Test func hostileFilesAreRefused() {
    var bomb = "a0: &a0 [x, x]\n"
    for level in 1..<30 { bomb += "a\(level): &a\(level) [*a\(level - 1), *a\(level - 1)]\n" }
    #expect(
      lines(bomb + "? *a29\n: 1\n") == [
        "jobs/x.yml:2:10: anchors and aliases (& and *) are not allowed in a job file; write the value out"
      ])
    let deep = "sources: " + String(repeating: "[", count: 20_000)
    #expect(lines(deep) == ["jobs/x.yml:1:1: nested too deeply for a job file"])
    #expect(
      lines(String(repeating: "- ", count: 20_000) + "a") == ["jobs/x.yml:1:40001: nested too deeply for a job file"])
    #expect(lines("a: |\n  x\u{1}y") == ["jobs/x.yml:2:4: a control character, \\x01, is not allowed in a job file"])
    #expect(lines(bytes: [0xff, 0xfe, 0x61]) == ["jobs/x.yml:1:1: not UTF-8 text: \\xff\\xfea"])
    #expect(
      lines(String(repeating: "# x\n", count: 20_000)) == [
        "jobs/x.yml: is larger than 64 KiB, the limit of a job file"
      ])
  }

  @Test func aJobFileThatCannotBeReadIsReported() throws {
    let tree = FileTree()
    let missing = #expect(throws: JobFileError.self) { try read(file: tree.path("none.yml")) }
    #expect(missing?.isMissing == true && missing?.description == "\(tree.path("none.yml")): no such job file")
    try tree.fifo("pipe.yml")
    let error = #expect(throws: JobFileError.self) { try read(file: tree.path("pipe.yml")) }
    #expect(error?.isMissing == false && error?.description == "\(tree.path("pipe.yml")): is not a regular file")
  }

  @Test func relativePathsStartFromTheFolderOfTheJobFile() throws {
    let tree = FileTree()
    try tree.folder("jobs")
    try tree.file("jobs/a.yml", "sources: ../images\nout: thumbs")
    let job = try read(file: tree.path("jobs/a.yml"))
    #expect(job.sources == [.path(tree.path("images"))])
    #expect(job.outputs[0].folder == tree.path("jobs/thumbs"))
    try tree.folder("far/away")
    try tree.link("link", to: "far/away")
    try tree.file("far/away/b.yml", "sources: ../images")
    #expect(try read(file: tree.path("link/b.yml")).sources == [.path(tree.path("link/../images"))])
  }

  @Test func theJobFilesOfTheRepositoryAreValid() throws {
    let jobs = Path(#filePath).parent.parent.parent.appending("jobs")
    for name: Path in ["one-photo.yml", "gallery.yml", "web-export.yml", "broken.yml"] {
      let settings = try read(file: jobs.appending(name))
      #expect(!settings.sources.isEmpty && settings.outputs.allSatisfy { $0.folder.bytes.contains(0x2f) })
    }
    let gallery = try read(file: jobs.appending("gallery.yml"))
    #expect(gallery.outputs[0].sizes.map(\.name) == ["thumb", "large"])
    let export = try read(file: jobs.appending("web-export.yml"))
    #expect(export.outputs.map(\.quality) == [72, 78] && export.outputs[0].progressive)
  }

  @Test func theReadmeNamesEveryPreset() throws {
    let readme = Path(#filePath).parent.parent.parent.appending("jobs/README.md")
    let text = try String(contentsOfFile: readme.description, encoding: .utf8)
    for word in Preset.allCases.map(\.rawValue) { #expect(text.contains("| `\(word)`"), "\(word)") }
  }
}
