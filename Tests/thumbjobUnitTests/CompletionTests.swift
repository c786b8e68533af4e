import Sourcing
import Testing

@testable import thumbjob

@Suite(.timeLimit(.minutes(5)))
struct CompletionTests {
  private let table = CommandTable(dump: Thumbjob._dumpHelp())

  private func completion(_ line: String...) -> Completion { Completion(of: line, in: table) { [7, 12] } }

  private func words(_ line: String...) -> [String] {
    Completion(of: line, in: table) { [7, 12] }.words.map(\.text)
  }

  @Test func theFirstWordIsACommandOrASource() {
    let first = completion("")
    #expect(
      first.words.map(\.text) == table.commands.map(\.commandName)
        && first.words.map(\.text).starts(with: ["run", "watch", "compare"]))
    #expect(first.paths == .files(extensions: PictureNames.usual + ["yml", "yaml"]))
    #expect(completion("a.jpg", "").words.isEmpty && completion("a.jpg", "").paths == first.paths)
    #expect(completion("compare", "").paths == .files(extensions: PictureNames.usual))
    #expect(words("help", "") == table.commands.map(\.commandName).dropLast())
  }

  @Test func optionsNeedNoCommandBeforeThem() {
    let all = Set(words("--"))
    #expect(all.isSuperset(of: ["--out", "-o", "--max", "--jobs", "--help-all", "--version"]))
    #expect(all == Set(words("run", "--")) && all == Set(words("images", "-")))
    #expect(Set(words("status", "--")) == ["--watch", "--json", "--version", "-h", "--help"])
  }

  @Test func anOptionIsOfferedOnceUnlessItMayBeRepeated() {
    let rest = words("--out", "x", "-j4", "-v", "-s", "9", "--exclude=a", "-")
    #expect(!rest.contains("--out") && !rest.contains("-o") && !rest.contains("--verbose"))
    #expect(rest.contains("--size") && rest.contains("--exclude") && rest.contains("--force"))
  }

  @Test func aValueIsCompletedByItsKind() {
    #expect(completion("--out", "").paths == .folders && completion("-o", "x").paths == .folders)
    #expect(completion("--out=im").paths == .folders)
    #expect(completion("--trace", "").paths == .files(extensions: []))
    #expect(completion("--quality", "") == completion("--size", ""), "nothing completes a number")
    #expect(completion("--quality", "").paths == .none && words("--quality", "").isEmpty)
    #expect(words("--progress", "") == ["auto", "bar", "plain", "none"])
    #expect(words("--progress=b").contains("--progress=bar"))
    #expect(words("--keep", "icc,").contains("icc,exif") && words("--keep=icc,e").contains("--keep=icc,exif"))
    #expect(words("compare", "--variants", "").prefix(3) == ["all", "bounded", "gcd-file"])
  }

  @Test func aRunningJobIsCompletedWhereOneIsNamed() {
    for command in ["status", "cancel", "pause", "resume"] { #expect(words(command, "") == ["7", "12"]) }
    #expect(words("cancel", "7", "").isEmpty && words("status", "7", "").isEmpty)
  }

  @Test func afterTheTerminatorEverythingIsASource() {
    #expect(completion("-o", "x", "--", "--").words.isEmpty && completion("--", "-").paths != .none)
    #expect(completion("--out", "--", "").words.isEmpty, "the terminator is the value of the option")
  }

  @Test func theAnswerIsALineAboutPathsAndALineForEachWord() {
    #expect(completion("pause", "").text == "none\n7\ta running job\n12\ta running job\n")
    #expect(completion("--out", "").text == "folders\n" && completion("--trace", "").text == "files\n")
    #expect(
      completion("x", "").text
        == "files jpg jpeg jpe jfif png gif webp tif tiff heic heif avif nef cr2 cr3 arw dng orf rw2 pef raf bmp dib "
        + "ico tga jxl jp2 j2k jpf jpx psd psb yml yaml\n"
    )
  }
}
