import Files
import Foundation
import Testing

@testable import Sourcing

/// The results of a walk, collected for comparisons.
struct Walked {
  var sources: [Source] = []
  var errors: [WalkError] = []
  var counters = WalkCounters()

  init(_ walker: SourceWalker) {
    var sources: [Source] = []
    var errors: [WalkError] = []
    counters = walker.walk(
      onError: { errors.append($0) },
      visit: {
        sources.append($0)
        return .goOn
      })
    self.sources = sources
    self.errors = errors
  }

  var relativePaths: [String] { sources.map(\.relativePath.printable).sorted() }
}

extension SourceWalker {
  init(_ folders: Path..., filter: SourceFilter = SourceFilter(), follow: Bool = false, outputs: [Path] = []) {
    self.init(arguments: folders.map { .path($0) }, filter: filter, followsLinks: follow, outputs: outputs)
  }
}

@Suite(.timeLimit(.minutes(5)))
struct SourceWalkerTests {
  let tree: FileTree

  init() throws { tree = FileTree() }

  @Test func everyRegularFileBelowAFolderIsASource() throws {
    try tree.file("in/a.jpg")
    try tree.file("in/deep/er/b.png")
    let walked = Walked(SourceWalker(tree.path("in")))
    #expect(walked.relativePaths == ["a.jpg", "deep/er/b.png"])
    #expect(walked.sources.allSatisfy { $0.origin == .folder && $0.path.bytes.starts(with: tree.path("in").bytes) })
    #expect(walked.counters.files == 2 && walked.counters.folders == 3 && walked.errors.isEmpty)
  }

  @Test(arguments: [false, true])
  func aFolderOfJPEGNamesAloneHasNoRivals(isSorted: Bool) throws {
    for name in ["a.jpg", "B.JPEG", ".hidden", "deep/c.jpg", "deep/er/d.jpg", "deep/er/d", "links/e.jpg"] {
      try tree.file(Path("in/\(name)"))
    }
    try tree.link("in/links/e", to: "../a.jpg")
    let walked = Walked(SourceWalker(arguments: [.path(tree.path("in"))], isSorted: isSorted))
    let alone = walked.sources.filter(\.isWithoutRivals).map(\.relativePath.printable).sorted()
    #expect(alone == ["B.JPEG", "a.jpg", "deep/c.jpg"])
    #expect(walked.sources.count == 6)
  }

  @Test func aLargeFolderIsNotReadToItsEndBeforeItsFirstFile() throws {
    let count = FolderEntries.mostAhead + 1
    for number in 0..<count { try tree.file(Path("in/\(number).jpg")) }
    let walked = Walked(SourceWalker(tree.path("in")))
    #expect(Set(walked.sources.map(\.relativePath)).count == count)
    #expect(!walked.sources.contains { $0.isWithoutRivals })
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

  @Test func linksInFoldersAreCountedAndNotFollowed() throws {
    try tree.file("in/a.jpg")
    try tree.link("in/b.jpg", to: "a.jpg")
    try tree.link("in/up", to: "..")
    let walked = Walked(SourceWalker(tree.path("in")))
    #expect(walked.relativePaths == ["a.jpg"])
    #expect(walked.counters.linksNotFollowed == 2)
  }

  @Test func aLoopOfSymbolicLinksIsWalkedOnce() throws {
    try tree.file("in/sub/a.jpg")
    try tree.link("in/sub/again", to: "..")
    let walked = Walked(SourceWalker(tree.path("in"), follow: true))
    #expect(walked.relativePaths == ["sub/a.jpg"])
    #expect(walked.errors.map(\.kind) == [.loop])
  }

  @Test func followedLinksAreSourcesAndABrokenOneIsReported() throws {
    try tree.file("in/a.jpg")
    try tree.file("elsewhere/c.jpg")
    try tree.link("in/b.jpg", to: "a.jpg")
    try tree.link("in/else", to: "../elsewhere")
    try tree.link("in/gone", to: "nowhere")
    let walked = Walked(SourceWalker(tree.path("in"), follow: true))
    #expect(walked.relativePaths == ["a.jpg", "b.jpg", "else/c.jpg"])
    #expect(walked.errors.map(\.kind) == [.brokenLink])
    #expect(walked.errors[0].description == "\(tree.path("in/gone")): a broken symbolic link")
  }

  @Test func unusualNamesAreKept() throws {
    let odd = Path(bytes: [UInt8]("in/new\nline\u{1b}[31m".utf8))!
    let invalid = Path(bytes: [UInt8]("in/caf".utf8) + [0xe9, 0xff])!
    try tree.file(odd)
    try tree.file(invalid)
    try tree.file("in/-rf")
    let walked = Walked(SourceWalker(tree.path("in")))
    #expect(walked.relativePaths == ["-rf", "caf\\xe9\\xff", "new\\nline\\x1b[31m"])
    for source in walked.sources {
      #expect(FileIdentity(of: source.path) != nil, "the path leads to the file")
    }
  }

  @Test func specialFilesAreSkippedAndNeverOpened() throws {
    try tree.file("in/a.jpg")
    try tree.fifo("in/pipe.jpg")
    let walked = Walked(SourceWalker(tree.path("in")))
    #expect(walked.relativePaths == ["a.jpg"])
    #expect(walked.counters.special == 1)
    let named = Walked(SourceWalker(tree.path("in/pipe.jpg")))
    #expect(named.errors.map(\.description) == ["\(tree.path("in/pipe.jpg")): a FIFO, not a file or a folder"])
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
    #expect(same.errors.isEmpty && same.counters.inOutput == 1 && same.counters.firstInOutput == tree.path("in"))
  }

  @Test func nothingInTheOutputFolderIsASourceHoweverItIsNamed() throws {
    try tree.file("out/a/b.jpg")
    try tree.link("link", to: "out/a")
    let list = try tree.file("list", "\(tree.path("out"))\0\(tree.path("out/a"))\0\(tree.path("out/a/b.jpg"))\0")
    for folder: Path in ["out/a", "link"] {
      let walked = Walked(SourceWalker(tree.path(folder), outputs: [tree.path("out")]))
      #expect(walked.sources.isEmpty && walked.errors.isEmpty && walked.counters.inOutput == 1)
    }
    let files = Walked(SourceWalker(tree.path("out/a/b.jpg"), tree.path("link/b.jpg"), outputs: [tree.path("out")]))
    #expect(files.sources.isEmpty && files.errors.isEmpty && files.counters.inOutput == 2)
    let entries = SourceArgument.list(SourceList(file: list, separator: .nul))
    let listed = Walked(SourceWalker(arguments: [entries], outputs: [tree.path("out")]))
    #expect(listed.sources.isEmpty && listed.errors.isEmpty && listed.counters.inOutput == 3)
  }

  @Test func whatAMissingOutputFolderWillContainIsNoSource() throws {
    try tree.file("in/a.jpg")
    let walked = Walked(SourceWalker(tree.path("in/../out/x"), tree.path("in"), outputs: [tree.path("out")]))
    #expect(walked.sources.count == 1 && walked.errors.isEmpty && walked.counters.inOutput == 1)
    #expect(FolderSet([tree.path("out")]).encloses(tree.path("in/../out/x")))
    #expect(!FolderSet([tree.path("out")]).encloses(tree.path("outer")))
  }

  @Test func aFollowedLinkIntoTheOutputFolderIsNotWalked() throws {
    try tree.file("out/sub/a.jpg")
    try tree.folder("in")
    try tree.link("in/link", to: "../out/sub")
    #expect(Walked(SourceWalker(tree.path("in"), follow: true, outputs: [tree.path("out")])).sources.isEmpty)
  }

  @Test func anExcludeOfHiddenFilesHasMatched() throws {
    try tree.file("in/.git/a.jpg")
    let filter = SourceFilter(excludes: [try Glob(".git/")])
    let walked = Walked(SourceWalker(tree.path("in"), filter: filter))
    #expect(walked.counters.hidden == 1 && filter.unmatched(walked.counters.matches).excludes.isEmpty)
    #expect(!Walked(SourceWalker(try tree.file("in/b.jpg"), filter: filter)).counters.hasFiltered)
  }

  @Test func aFolderWithAWorkingFolderIsWalked() throws {
    try tree.file("in/old/.thumbjob/settings")
    try tree.file("in/old/original.jpg")
    #expect(Walked(SourceWalker(tree.path("in"))).relativePaths == ["old/original.jpg"])
  }

  @Test func hiddenFilesAndFoldersArePassedOverAndCounted() throws {
    for name in ["a.jpg", ".b.jpg", ".Trash-0/c.jpg", "@eaDir/d.jpg", "lost+found/e.jpg", ".thumbjob/run-1/f.tmp"] {
      try tree.file(Path("in/\(name)"))
    }
    let walked = Walked(SourceWalker(tree.path("in")))
    #expect(walked.relativePaths == ["a.jpg"] && walked.counters.hidden == 4)
    let all = Walked(SourceWalker(tree.path("in"), filter: SourceFilter(takesHidden: true)))
    #expect(all.relativePaths == [".Trash-0/c.jpg", ".b.jpg", "@eaDir/d.jpg", "a.jpg", "lost+found/e.jpg"])
    #expect(all.counters.hidden == 0)
    #expect(Walked(SourceWalker(tree.path("in/.Trash-0"))).relativePaths == ["c.jpg"], "a named folder is not hidden")
  }

  @Test func aMissingArgumentIsReportedAndTheOthersAreWalked() throws {
    try tree.file("in/a.jpg")
    let walked = Walked(SourceWalker(tree.path("nothing"), tree.path("in")))
    #expect(walked.relativePaths == ["in/a.jpg"])
    #expect(walked.errors.map(\.kind) == [.missingArgument])
    #expect(walked.errors[0].description == "\(tree.path("nothing")): no such file or folder")
  }

  @Test func aFolderThatIsAnArgumentTwiceIsWalkedOnce() throws {
    try tree.file("in/a.jpg")
    try tree.link("also", to: "in")
    let walked = Walked(SourceWalker(tree.path("in"), tree.path("also")))
    #expect(walked.sources.count == 1)
  }

  /// Whether enough files may be open: a walk keeps one folder open for each level.
  private static let mayOpenEnough = sysconf(CInt(_SC_OPEN_MAX)) >= 2 * SourceWalker.maximumDepth

  @Test(.enabled(if: mayOpenEnough, "fewer than 512 files may be open at once (ulimit -n)"))
  func aTreeThatIsTooDeepIsReported() throws {
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
    #expect(walked.errors.map(\.kind) == [.tooDeep])
    #expect(walked.counters.folders == SourceWalker.maximumDepth)
    let line = try #require(walked.errors.first).description
    #expect(line.hasSuffix(": more than 256 folders deep; to walk it, name it as a source of its own"))
  }

  @Test func aPathThatIsTooLongToOpenIsReported() throws {
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
    #expect(walked.errors.map(\.kind) == [.pathTooLong])
  }

  @Test func theVisitorAndTheStopCheckEndTheWalk() throws {
    for index in 0..<50 { try tree.file(Path("in/\(index).jpg")) }
    let walker = SourceWalker(tree.path("in"))
    var seen = 0
    let counters = walker.walk(
      onError: { _ in },
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
      }, onError: { _ in }, visit: { _ in .goOn })
    #expect(stopped.files < 12)
  }

  @Test func anErrorOfTheVisitorEndsTheWalk() throws {
    try tree.file("in/a.jpg")
    #expect(throws: Errno.noSpace) {
      try SourceWalker(tree.path("in")).walk(onError: { _ in }, visit: { _ in throw Errno.noSpace })
    }
  }

  /// The names have 200 bytes each, so a walk that listed the folder first would hold 10 MB of them. They are links to one
  /// file, because to make as many files takes five times as long. The walk runs in a process of its own, because the
  /// test measures the memory of the whole process.
  @Test func aWalkOfFortyThousandFilesNeedsLittleMemory() async {
    await #expect(processExitsWith: .success) {
      let tree = FileTree()
      let top = try tree.folder("in")
      let folder = open(top.description, O_RDONLY | O_DIRECTORY)
      let padding = String(repeating: "x", count: 200)
      close(openat(folder, padding, O_WRONLY | O_CREAT, 0o644))
      for index in 1..<40_000 { try #require(linkat(folder, padding, folder, "\(index)-\(padding)", 0) == 0) }
      close(folder)
      var (first, peak, seen) = (0, 0, 0)
      let counters = SourceWalker(top).walk(
        onError: { _ in },
        visit: { _ in
          // Measures at every hundredth file only, because measuring is slower than walking; a hundred names are 20 kB.
          if seen % 100 == 0 {
            peak = max(peak, ProcessStatus()?.memory?.resident ?? 0)
            if first == 0 { first = peak }
          }
          seen += 1
          return .goOn
        })
      try #require(counters.files == 40_000)
      try #require(first > 0 && peak - first < 4 << 20)
    }
  }
}
