import Files
import Foundation
import SystemPackage
import Testing

@testable import ThumbnailJobs

/// What a walk found, gathered for comparing.
struct Walked {
  var sources: [Source] = []
  var problems: [WalkProblem] = []
  var counters = WalkCounters()

  init(_ walker: SourceWalker) {
    var sources: [Source] = []
    var problems: [WalkProblem] = []
    counters = walker.walk(
      onProblem: { problems.append($0) },
      visit: {
        sources.append($0)
        return .goOn
      })
    self.sources = sources
    self.problems = problems
  }

  var relativePaths: [String] { sources.map(\.relativePath.printable).sorted() }
}

extension SourceWalker {
  init(_ folders: Path..., filter: SourceFilter = SourceFilter(), follow: Bool = false, outputs: [Path] = []) {
    self.init(arguments: folders.map { .path($0) }, filter: filter, followsLinks: follow, outputs: outputs)
  }
}

@Suite(.timeLimit(.minutes(1)))
struct SourceWalkerTests {
  let tree: FileTree

  init() throws { tree = FileTree() }

  @Test func everyRegularFileBelowAFolderIsASource() throws {
    try tree.file("in/a.jpg")
    try tree.file("in/deep/er/b.png")
    let walked = Walked(SourceWalker(tree.path("in")))
    #expect(walked.relativePaths == ["a.jpg", "deep/er/b.png"])
    #expect(walked.sources.allSatisfy { $0.origin == .folder && $0.path.bytes.starts(with: tree.path("in").bytes) })
    #expect(walked.counters.files == 2 && walked.counters.folders == 3 && walked.problems.isEmpty)
  }

  @Test func aFileArgumentIsMirroredByItsBaseName() throws {
    let file = try tree.file("somewhere/a.jpg")
    let source = try #require(Walked(SourceWalker(file)).sources.first)
    #expect(source == Source(path: file, relativePath: "a.jpg", argument: 0, origin: .argument))
  }

  @Test func anArgumentThatIsALinkIsFollowed() throws {
    try tree.file("real/a.jpg")
    try tree.link("link", to: "real")
    #expect(Walked(SourceWalker(tree.path("link"))).relativePaths == ["a.jpg"])
  }

  @Test func linksInFoldersAreCountedAndLeftAlone() throws {
    try tree.file("in/a.jpg")
    try tree.link("in/b.jpg", to: "a.jpg")
    try tree.link("in/up", to: "..")
    let walked = Walked(SourceWalker(tree.path("in")))
    #expect(walked.relativePaths == ["a.jpg"])
    #expect(walked.counters.linksNotFollowed == 2)
  }

  @Test func symlinkLoopIsWalkedOnce() throws {
    try tree.file("in/sub/a.jpg")
    try tree.link("in/sub/again", to: "..")
    let walked = Walked(SourceWalker(tree.path("in"), follow: true))
    #expect(walked.relativePaths == ["sub/a.jpg"])
    #expect(walked.problems.map(\.kind) == [.loop])
  }

  @Test func followedLinksAreSourcesAndABrokenOneIsNamed() throws {
    try tree.file("in/a.jpg")
    try tree.file("elsewhere/c.jpg")
    try tree.link("in/b.jpg", to: "a.jpg")
    try tree.link("in/else", to: "../elsewhere")
    try tree.link("in/gone", to: "nowhere")
    let walked = Walked(SourceWalker(tree.path("in"), follow: true))
    #expect(walked.relativePaths == ["a.jpg", "b.jpg", "else/c.jpg"])
    #expect(walked.problems.map(\.kind) == [.brokenLink])
    #expect(walked.problems[0].description == "\(tree.path("in/gone")): a symbolic link that leads nowhere")
  }

  @Test func oddNamesSurvive() throws {
    let odd = Path(bytes: [UInt8]("in/new\nline\u{1b}[31m".utf8))!
    let invalid = Path(bytes: [UInt8]("in/caf".utf8) + [0xe9, 0xff])!
    try tree.file(odd)
    try tree.file(invalid)
    try tree.file("in/-rf")
    let walked = Walked(SourceWalker(tree.path("in")))
    #expect(walked.relativePaths == ["-rf", "caf\\xe9\\xff", "new\\nline\\x1b[31m"])
    for source in walked.sources {
      #expect(FileIdentity(of: source.path) != nil, "opened under the name found")
    }
  }

  @Test func specialFilesArePassedOverUnopened() throws {
    try tree.file("in/a.jpg")
    try tree.fifo("in/pipe.jpg")
    let walked = Walked(SourceWalker(tree.path("in")))
    #expect(walked.relativePaths == ["a.jpg"])
    #expect(walked.counters.special == 1)
    let named = Walked(SourceWalker(tree.path("in/pipe.jpg")))
    #expect(named.problems.map(\.description) == ["\(tree.path("in/pipe.jpg")): a FIFO, not a file or a folder"])
  }

  @Test func aFolderNamedLikeAPhotoIsWalked() throws {
    try tree.file("in/x.jpg/inner.jpg")
    #expect(Walked(SourceWalker(tree.path("in"))).relativePaths == ["x.jpg/inner.jpg"])
  }

  @Test func theOutputFolderIsNeverWalked() throws {
    try tree.file("in/a.jpg")
    try tree.file("in/thumbs/a.jpg")
    try tree.file("in/other/.thumbjob/run-1/1.tmp")
    try tree.link("out", to: "in/thumbs")
    let walked = Walked(SourceWalker(tree.path("in"), outputs: [tree.path("out")]))
    #expect(walked.relativePaths == ["a.jpg"])
    let same = Walked(SourceWalker(tree.path("in"), outputs: [tree.path("in")]))
    #expect(same.sources.isEmpty)
    #expect(same.problems.map(\.kind) == [.isOutput])
  }

  @Test func aMissingArgumentIsReportedAndTheOthersAreWalked() throws {
    try tree.file("in/a.jpg")
    let walked = Walked(SourceWalker(tree.path("nothing"), tree.path("in")))
    #expect(walked.relativePaths == ["a.jpg"])
    #expect(walked.problems.map(\.kind) == [.missingArgument])
    #expect(walked.problems[0].description == "\(tree.path("nothing")): no such file or folder")
  }

  @Test func theSameFolderNamedTwiceIsWalkedOnce() throws {
    try tree.file("in/a.jpg")
    try tree.link("also", to: "in")
    let walked = Walked(SourceWalker(tree.path("in"), tree.path("also")))
    #expect(walked.sources.count == 1)
  }

  /// A walk holds a folder open for each level that it is deep.
  private static let mayOpenEnough = sysconf(CInt(_SC_OPEN_MAX)) >= 2 * SourceWalker.maximumDepth

  @Test(.enabled(if: mayOpenEnough, "fewer than 512 files may be open at once (ulimit -n)"))
  func aThousandFoldersDeepIsANamedProblem() throws {
    let top = try tree.folder("in")
    try tree.file("in/a.jpg")
    var folder = open(top.description, O_RDONLY | O_DIRECTORY)
    for _ in 0..<1000 {
      #expect(mkdirat(folder, "d", 0o777) == 0)
      let inner = openat(folder, "d", O_RDONLY | O_DIRECTORY)
      close(folder)
      folder = inner
    }
    close(folder)
    let walked = Walked(SourceWalker(top))
    #expect(walked.relativePaths == ["a.jpg"])
    #expect(walked.problems.map(\.kind) == [.tooDeep])
    #expect(walked.counters.folders == SourceWalker.maximumDepth)
    let line = try #require(walked.problems.first).description
    #expect(line.hasSuffix(": more than 256 folders deep; name it as a source of its own to have it walked"))
  }

  @Test func aPathTooLongToOpenIsANamedProblem() throws {
    let top = try tree.folder("in")
    let name = String(repeating: "n", count: 250)
    var folder = open(top.description, O_RDONLY | O_DIRECTORY)
    for _ in 0..<20 {
      #expect(mkdirat(folder, name, 0o777) == 0)
      let inner = openat(folder, name, O_RDONLY | O_DIRECTORY)
      close(folder)
      folder = inner
    }
    close(openat(folder, "a.jpg", O_WRONLY | O_CREAT, 0o644))
    close(folder)
    let walked = Walked(SourceWalker(top))
    #expect(walked.sources.isEmpty)
    #expect(walked.problems.map(\.kind) == [.pathTooLong])
  }

  @Test func theVisitorAndTheStopCheckEndTheWalk() throws {
    for index in 0..<50 { try tree.file(Path("in/\(index).jpg")) }
    let walker = SourceWalker(tree.path("in"))
    var seen = 0
    let counters = walker.walk(
      onProblem: { _ in },
      visit: { _ in
        seen += 1
        return seen == 3 ? .stop : .goOn
      })
    #expect(counters.files == 3)
    var asked = 0
    let stopped = walker.walk(
      shouldStop: {
        asked += 1
        return asked > 10
      }, onProblem: { _ in }, visit: { _ in .goOn })
    #expect(stopped.files < 12)
  }

  @Test func whatTheVisitorThrowsEndsTheWalk() throws {
    try tree.file("in/a.jpg")
    #expect(throws: Errno.noSpace) {
      try SourceWalker(tree.path("in")).walk(onProblem: { _ in }, visit: { _ in throw Errno.noSpace })
    }
  }

  /// Names of 200 bytes: a walk that listed the folder first would hold over 20 MB of them. In a process of its own,
  /// because memory is the process's.
  @Test func aHundredThousandFilesAreWalkedInFlatMemory() async {
    await #expect(processExitsWith: .success) {
      let tree = FileTree()
      let top = try tree.folder("in")
      let folder = open(top.description, O_RDONLY | O_DIRECTORY)
      let padding = String(repeating: "x", count: 200)
      for index in 0..<100_000 { close(openat(folder, "\(index)-\(padding)", O_WRONLY | O_CREAT, 0o644)) }
      close(folder)
      var (first, peak, seen) = (0, 0, 0)
      let counters = SourceWalker(top).walk(
        onProblem: { _ in },
        visit: { _ in
          // Once for every hundred names, 20 kB, because it takes longer than a step of the walk.
          if seen % 100 == 0 {
            peak = max(peak, ProcessStatus()?.memory?.resident ?? 0)
            if first == 0 { first = peak }
          }
          seen += 1
          return .goOn
        })
      try #require(counters.files == 100_000)
      try #require(first > 0 && peak - first < 12 << 20)
    }
  }
}
