import Files
import Foundation
import TestSupport
import Testing

@testable import JobSettings
@testable import Jobs
@testable import Marks
@testable import Sourcing

@Suite(.timeLimit(.minutes(1)))
struct WatchPartsTests {
  let tree = FileTree()
  let start = ContinuousClock.now

  // MARK: Changes that wait

  @Test func aPathIsDueOnceItWasLeftAlone() {
    var pending = PendingChanges()
    var due: [[Path]] = []
    pending.note("a", at: start)
    due.append(pending.takeDue(at: start + .milliseconds(200)))
    pending.note("a", at: start + .milliseconds(200))
    for time in [400, 500, 9000] { due.append(pending.takeDue(at: start + .milliseconds(time))) }
    #expect(due == [[], [], ["a"], []], "after 400 ms it has just changed again")
    #expect(pending.count == 0 && pending.nextDue == nil)
  }

  @Test func aPathThatNeverGetsQuietIsDueAfterSomeSeconds() {
    var pending = PendingChanges()
    var now = start
    while pending.takeDue(at: now).isEmpty {
      pending.note("a", at: now)
      now += .milliseconds(100)
    }
    #expect(now - start >= PendingChanges.longestWait && now - start < PendingChanges.longestWait + .seconds(1))
  }

  @Test func tooManyPathsBecomeOneWalk() {
    var pending = PendingChanges()
    for number in 0...PendingChanges.limit { pending.note(Path("\(number)"), at: start) }
    #expect(pending.needsWalk && pending.count == 0)
    pending.note("more", at: start)
    #expect(pending.count == 0, "the walk will see it")
    let (first, second) = (pending.takeWalk(), pending.takeWalk())
    #expect(first && !second)
    pending.note("later", at: start)
    #expect(pending.count == 1, "the walk may have passed it")
  }

  // MARK: Files that have no thumbnails

  @Test func aFruitlessFileIsTriedAgainOnceItHasChanged() throws {
    let path = try tree.file("a.jpg", "junk")
    let version = try #require(PassedOverFiles.Version(of: path, read: nil))
    #expect(version.isCurrent(of: path))
    try tree.setModified("a.jpg", timespec(tv_sec: 1_000_000_000, tv_nsec: 0))
    #expect(!version.isCurrent(of: path))
    // It was read before it got its present contents.
    let old = SourceFile.Version(
      bytes: 3, modified: timespec(tv_sec: 1_000_000_000, tv_nsec: 0), state: FileState(stat()))
    #expect(PassedOverFiles.Version(of: path, read: old)?.isCurrent(of: path) == false)
    #expect(PassedOverFiles.Version(of: tree.path("none"), read: nil) == nil)
    var files = PassedOverFiles()
    files.insert(path, version)
    #expect(files[path] != nil)
    for number in 0..<20_000 { files.insert(Path("\(number)"), version) }
    #expect(files[path]?.isCurrent(of: path) == false, "one of many is still known")
    #expect((0..<20_000).allSatisfy { files[Path("\($0)")] != nil } && files[Path("20000")] == nil)
    files.remove(path)
    #expect(files[path] == nil)
  }

  @Test func aCompactTableKeepsWhatItGets() {
    var (table, copy, random) = (CompactTable(limit: 700), [UInt64: UInt64](), SplitMix(seed: 1))
    for _ in 0..<20_000 {
      // Of few bits, so that many keys want the same place.
      let key = random.next() & 0x8000_0000_0000_03FF | 0x400
      if random.next() & 3 == 0 {
        table.remove(key)
        copy[key] = nil
      } else if copy.count < 700 || copy[key] != nil {
        let value = random.next()
        let isAdded = table.insert(key, value)
        #expect(isAdded == (copy[key] == nil))
        copy[key] = value
      }
    }
    #expect(table.count == copy.count && copy.count > 100)
    #expect((0x400...0x7FF).allSatisfy { table[$0] == copy[$0] && table[$0 | 1 << 63] == copy[$0 | 1 << 63] })
  }

  @Test func aFullTableReplacesFewAtATime() {
    var (table, random) = (CompactTable(limit: 1000), SplitMix(seed: 2))
    let keys = (0..<1100).map { _ in random.next() }
    for key in keys { table.insert(key, 1) }
    #expect(table.count == 1000 && keys.count { table[$0] != nil } == 1000 && table[keys[1099]] != nil)
    // Walks over more files than are kept try some again, not all.
    var missing = 0
    for key in keys where table.insert(key, 1) { missing += 1 }
    #expect(missing > 0 && missing < 500, "\(missing)")
  }

  @Test func filesWithSeveralNamesAreLookedAt() throws {
    let path = try tree.file("a.jpg", "1")
    #expect(link("\(path)", "\(tree.path("b.jpg"))") == 0)
    let links = LinkedSources(every: .zero)
    func state() throws -> FileState { FileState(try FileStatus.of(path, followingLinks: true).get()) }
    #expect(links.insert(path, try state()) == .first && links.takeChanged().isEmpty)
    try tree.setModified("b.jpg", timespec(tv_sec: 1_000_000_000, tv_nsec: 0))
    #expect(links.takeChanged() == [path] && links.takeChanged().isEmpty)
    // Its last change, which is not looked for any more afterwards.
    unlink("\(tree.path("b.jpg"))")
    #expect(links.takeChanged() == [path])
    try tree.setModified("a.jpg", timespec(tv_sec: 1_100_000_000, tv_nsec: 0))
    #expect(links.takeChanged().isEmpty)
    let same = try state()
    for number in 0..<LinkedSources.limit { #expect(links.insert(Path("\(number)"), same) == .none) }
    #expect(links.insert("more", same) == .tooMany && links.insert("0", same) == .none)
  }

  // MARK: Walks over a part

  private func walked(_ folder: Path, _ walker: SourceWalker) -> [String] {
    var found: [String] = []
    walker.walk(
      .folder(tree.path(folder), 0), meanwhile: {}, shouldStop: { false },
      onFolder: { folder, _ in found.append("in \(folder.relativePath)") }, onError: { found.append("\($0)") },
      visit: { source in
        found.append("\(source.relativePath)")
        return .goOn
      })
    return found.sorted()
  }

  @Test func aWalkOverAPartFindsWhatAWholeWalkFindsThere() throws {
    for file: Path in ["p/a/1.jpg", "p/a/b/2.jpg", "p/a/no/3.jpg", "p/.hidden/4.jpg", "p/out/5.jpg", "p/c/6.jpg"] {
      try tree.file(file)
    }
    try tree.link("p/a/up", to: "..")
    let filter = SourceFilter(excludes: [try Glob("no/")])
    let walker = SourceWalker(arguments: [.path(tree.path("p"))], filter: filter, outputs: [tree.path("p/out")])
    #expect(walked("p/a", walker) == ["a/1.jpg", "a/b/2.jpg", "in a", "in a/b"])
    for folder: Path in ["p/.hidden", "p/a/no", "p/out", "p/out/deep", "p/a/up/c"] {
      #expect(walked(folder, walker) == [], "\(folder)")
    }
    let following = SourceWalker(arguments: [.path(tree.path("p"))], followsLinks: true, outputs: [tree.path("p/out")])
    #expect(walked("p/a/up", following) == [], "a link to a folder that contains it is not entered")
  }

  // MARK: Settings

  @Test func settingsThatNeedAnEndAreRefused() throws {
    func refusal(_ change: (inout JobSettings) throws -> Void) rethrows -> String? {
      var settings = JobSettings()
      settings.sources = [.path(tree.root)]
      settings.watch = WatchSettings()
      try change(&settings)
      do throws(TextError) { try settings.validate() } catch { return error.description }
      return nil
    }
    #expect(refusal { _ in } == nil)
    #expect(refusal { $0.runFor = .seconds(1) } == "for: a watch has no end; use it with run")
    #expect(try refusal { $0.halt = try HaltLimit(parsing: "3", for: "x") } == "halt: a watch goes on after failures")
    #expect(try refusal { $0.shardChoice = try ShardChoice(parsing: "0/2", for: "x") }?.hasPrefix("shard: ") == true)
    #expect(refusal { $0.dryRun = true }?.hasPrefix("dry-run: ") == true)
    #expect(refusal { $0.force = true }?.hasPrefix("force: ") == true)
    #expect(refusal { $0.joins.contactSheet = "s.pdf" }?.hasPrefix("contact-sheet: ") == true)
    #expect(
      try refusal { $0.outputs[0].name = try NamePattern(parsing: "%Y-%s", for: "x") }?.hasPrefix("name: ") == true)
    let file = try tree.file("a.jpg")
    #expect(refusal { $0.sources = [.path(file)] } == "\(file): a file; a watch needs its folder, and “include”")
  }
}
