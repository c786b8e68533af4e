import Files
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Ledger

@Suite(.timeLimit(.minutes(5))) struct LedgerTests {
  private let place = TemporaryFolder()
  private var file: Path { Path("\(place.path)/ledger") }

  private func entry(
    _ source: Path, _ outcome: LedgerEntry.Outcome = .failed(kind: "source", reason: "truncated"),
    version: LedgerEntry.Version? = .init(bytes: 10, modified: 20), time: Int = 1000
  ) -> LedgerEntry {
    LedgerEntry(source, version: version, outcome: outcome, settings: "s", program: "1", time: time)
  }

  private func entries(unmadeOnly: Bool = false) throws -> [LedgerEntry] {
    var all: [LedgerEntry] = []
    try Ledger(file, for: .reading).visit(unmadeOnly: unmadeOnly) { all.append($0) }
    return all
  }

  @Test func entriesSurviveTheProcess() throws {
    let odd = try #require(Path(bytes: [0x61, 0xFF, 0x0A, 0x2F, 0x62]))
    let written = [
      entry("../a.jpg", .made(thumbnails: 2, first: "a.jpg")), entry(odd),
      entry("c.jpg", .suspect(deaths: 3), version: nil),
    ]
    let ledger = Ledger(file, for: .writing)
    #expect(ledger.isNew)
    for entry in written { ledger.record(entry) }
    #expect(ledger.unmade(odd) == written[1], "before it is written")
    ledger.write()
    #expect(try entries() == written)
    #expect(try entries(unmadeOnly: true) == Array(written[1...]))
    let again = Ledger(file, for: .writing)
    #expect(!again.isNew && again.unmade(odd) == written[1] && again.unmade("../a.jpg") == nil)
    #expect(again.entry(of: "../a.jpg") != nil && again.entry(of: "a.jpg") == nil)
  }

  @Test func theSameOutcomeOfTheSameVersionIsCounted() throws {
    let ledger = Ledger(file, for: .writing)
    func put(_ entry: LedgerEntry) {
      ledger.record(entry)
      ledger.write()
    }
    put(entry("a", time: 1))
    put(entry("a", time: 2))
    #expect(ledger.unmade("a")?.since == 1 && ledger.unmade("a")?.time == 2 && ledger.unmade("a")?.times == 2)
    put(entry("a", version: .init(bytes: 11, modified: 20), time: 3))
    #expect(ledger.unmade("a")?.since == 3 && ledger.unmade("a")?.times == 1)
    put(entry("a", .suspect(deaths: 1), version: .init(bytes: 11, modified: 20), time: 4))
    #expect(ledger.unmade("a")?.since == 4 && ledger.unmade("a")?.times == 1)
    put(entry("a", .made(thumbnails: 1, first: nil), time: 5))
    #expect(ledger.unmade("a") == nil)
  }

  @Test func noMoreThanTheCapacityWaits() throws {
    let ledger = Ledger(file, for: .writing)
    for number in 0..<Ledger.capacity { ledger.record(entry(Path("\(number)"))) }
    #expect(try entries().count == Ledger.capacity, "written, although nobody has asked for it")
    ledger.record(entry("one more"))
    #expect(try entries().count == Ledger.capacity)
  }

  @Test func ofAKilledProcessOnlyWhatWaitedIsLost() throws {
    do {
      let ledger = Ledger(file, for: .writing)
      ledger.record(entry("written"))
      ledger.write()
      ledger.record(entry("waiting"))
    }
    #expect(try entries().map(\.source) == ["written"])
  }

  @Test func theEntriesOfAFolderAreFoundAmongThoseBelowIt() throws {
    let ledger = Ledger(file, for: .writing)
    let paths: [Path] = ["a", "d/a", "d/b/x", "d/b/y/z", "d/b", "d/c0", "d/c/x", "d/d", "d.e", "../d/a"]
    for path in paths { ledger.record(entry(path)) }
    ledger.write()
    let again = Ledger(file, for: .writing)
    for path in paths + paths { #expect(again.entry(of: path)?.source == path, "\(path)") }
    for path: Path in ["d", "d/c", "d/b/y", "b", "../d/b"] { #expect(again.entry(of: path) == nil, "\(path)") }
    // What is changed meanwhile counts, written or not.
    again.record(entry("d/new"))
    again.forget("d/a")
    for _ in 0..<2 {
      #expect(again.entry(of: "d/new") != nil && again.entry(of: "d/a") == nil && again.entry(of: "d/d") != nil)
      again.write()
    }
    var below: [Path] = []
    try again.visit(below: "d") { below.append($0.source) }
    #expect(below == ["d/b", "d/b/x", "d/b/y/z", "d/c/x", "d/c0", "d/d", "d/new"])
  }

  @Test func aFolderWithVeryManyEntriesIsNotKept() throws {
    let ledger = Ledger(file, for: .writing)
    for number in 0..<6000 { ledger.record(entry(Path("many/\(number)"))) }
    ledger.write()
    let again = Ledger(file, for: .writing)
    for number in [0, 4095, 5999] { #expect(again.entry(of: Path("many/\(number)")) != nil) }
    #expect(again.entry(of: "many/6000") == nil)
  }

  @Test func sourcesAreFoundByTheirKeys() throws {
    let ledger = Ledger(file, for: .writing)
    for (path, key): (Path, UInt64) in [("a", 1), ("b", .max), ("c", 3)] {
      var entry = entry(path)
      entry.key = key
      ledger.record(entry)
    }
    #expect(ledger.sources(withKey: .max) == ["b"], "before it is written")
    ledger.write()
    #expect(ledger.sources(withKey: .max) == ["b"] && ledger.sources(withKey: 2) == [])
    ledger.forget("b")
    #expect(ledger.sources(withKey: .max) == [])
  }

  /// The tables as the first version of the program made them.
  @Test func aLedgerOfTheFirstVersionIsReadAndRenewed() throws {
    try DatabaseQueue(path: file.printable).write { db in
      try db.execute(
        sql: """
          PRAGMA application_id = \(0x7468_6D62); PRAGMA user_version = 1;
          CREATE TABLE source (
            path BLOB PRIMARY KEY, size INTEGER, modified INTEGER, hash INTEGER, outcome TEXT NOT NULL, kind TEXT, reason TEXT,
            thumbnails INTEGER, first BLOB, deaths INTEGER, settings TEXT NOT NULL, program TEXT NOT NULL,
            since INTEGER NOT NULL, time INTEGER NOT NULL, times INTEGER NOT NULL
          ) WITHOUT ROWID;
          CREATE INDEX unmade ON source (path) WHERE outcome <> 'made';
          CREATE TABLE state (complete INTEGER NOT NULL);
          INSERT INTO state VALUES (1);
          INSERT INTO source VALUES (x'61', 5, 7, NULL, 'made', NULL, NULL, 1, x'61', NULL, 's', '1', 9, 9, 1);
          """)
    }
    let old = try #require(try entries().first)
    #expect(old.source == "a" && old.version == .init(bytes: 5, modified: 7) && old.moment == 9_000_000_000)
    #expect(old.version?.isSame(as: old.version) == false, "it is not known which file that was")
    let ledger = Ledger(file, for: .writing)
    ledger.record(entry("b"))
    ledger.write()
    #expect(ledger.problem == nil)
    #expect(try entries().map(\.source) == ["a", "b"])
    ledger.record(disk: "x", at: "photos")
    #expect(try Ledger(file, for: .reading).disks() == ["photos": "x"])
  }

  /// The tables as the second version of the program made them.
  @Test func aLedgerOfTheSecondVersionIsReadAndRenewed() throws {
    try Ledger(file, for: .writing).open()
    try DatabaseQueue(path: file.printable).write { db in
      try db.execute(
        sql: """
          DROP INDEX sizes; ALTER TABLE source DROP COLUMN looks; ALTER TABLE source DROP COLUMN digest; PRAGMA user_version = 2;
          INSERT INTO source (path, size, modified, outcome, settings, program, since, time, times, state, key, moment)
          VALUES (x'61', 5, 7, 'made', 's', '1', 9, 9, 1, 3, 4, 10);
          INSERT INTO disk VALUES (x'62', 'x');
          """)
    }
    let old = try #require(try entries().first)
    #expect(old.version == .init(bytes: 5, modified: 7, state: 3) && old.key == 4 && old.digest == nil)
    #expect(try Ledger(file, for: .reading).disks() == ["b": "x"])
    let ledger = Ledger(file, for: .writing)
    var new = entry("b")
    new.digest = [1, 2, 3]
    ledger.record(new)
    ledger.write()
    #expect(ledger.problem == nil && ledger.sources(withKey: 4) == ["a"])
    #expect(try entries().map(\.digest) == [nil, [1, 2, 3]])
  }

  /// Its hashes are others than those of today.
  @Test func aLedgerOfTheThirdVersionLosesItsHashes() throws {
    let before = Ledger(file, for: .writing)
    var hashed = entry("a", .made(thumbnails: 1, first: nil))
    hashed.hash = 1
    before.record(hashed)
    before.write()
    try DatabaseQueue(path: file.printable).write {
      try $0.execute(sql: "DROP INDEX sizes; ALTER TABLE source DROP COLUMN looks; PRAGMA user_version = 3")
    }
    #expect(try entries().map(\.hash) == [nil] && Ledger(file, for: .reading).entries(like: hashed.version!) == [])
    let ledger = Ledger(file, for: .writing)
    try ledger.open()
    #expect(try entries().map(\.hash) == [nil])
    #expect(ledger.entries(like: hashed.version!) == [])
  }

  @Test func thoseOfTheSameTimeComeFirstAmongAFewOfOneSize() throws {
    let ledger = Ledger(file, for: .writing)
    for number in 0..<20 {
      var new = entry(
        Path("\(number)"), .made(thumbnails: 1, first: nil), version: .init(bytes: 10, modified: number))
      new.hash = number == 18 ? nil : 1
      ledger.record(new)
    }
    ledger.record(entry("failed", .failed(kind: "source", reason: "cut"), version: .init(bytes: 10, modified: 19)))
    ledger.write()
    let found = ledger.entries(like: .init(bytes: 10, modified: 19)).map(\.source)
    #expect(found.first == "19" && found.count == 9 && Set(found).count == 9 && !found.contains("18"), "\(found)")
    #expect(ledger.entries(like: .init(bytes: 10, modified: 18)).count == 9)
    #expect(ledger.entries(like: .init(bytes: 11, modified: 19)) == [])
  }

  @Test func twoProcessesShareAFile() throws {
    let (first, second) = (Ledger(file, for: .writing), Ledger(file, for: .writing))
    first.record(entry("a"))
    second.record(entry("b"))
    first.write()
    second.write()
    #expect(try entries().map(\.source) == ["a", "b"])
    #expect(first.unmade("b") != nil && first.problem == nil && second.problem == nil)
  }

  @Test func aFileThatIsNoLedgerIsLeftAlone() throws {
    try place.write("no database".utf8 + Array(repeating: 0x41, count: 100), to: "ledger")
    #expect(throws: LedgerError(.foreign, file)) { try Ledger(file, for: .writing).open() }
    #expect(throws: LedgerError(.foreign, file)) { try Ledger(file, for: .reading).open() }
    #expect(try Data(contentsOf: URL(fileURLWithPath: file.printable)).starts(with: "no database".utf8))
  }

  @Test func aDatabaseOfAnotherProgramIsLeftAlone() throws {
    try DatabaseQueue(path: file.printable).write { try $0.execute(sql: "CREATE TABLE other (a)") }
    #expect(throws: LedgerError(.foreign, file)) { try Ledger(file, for: .writing).open() }
  }

  @Test func aLedgerOfANewerVersionIsLeftAlone() throws {
    try Ledger(file, for: .writing).open()
    try DatabaseQueue(path: file.printable).write { try $0.execute(sql: "PRAGMA user_version = 5") }
    #expect(throws: LedgerError(.newer, file)) { try Ledger(file, for: .writing).open() }
    #expect(throws: LedgerError(.newer, file)) { try Ledger(file, for: .reading).open() }
  }

  @Test func aDamagedLedgerIsReportedOnceAndKnowsNothingThen() throws {
    let ledger = Ledger(file, for: .writing)
    for number in 0..<5000 { ledger.record(entry(Path("\(number)"))) }
    ledger.write()
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: file.printable))
    try handle.seek(toOffset: 40 * 4096)
    try handle.write(contentsOf: Data(repeating: 0xEE, count: 200_000))
    try handle.close()
    let damaged = Ledger(file, for: .writing)
    for number in 0..<5000 { _ = damaged.unmade(Path("\(number)")) }
    #expect(damaged.problem == LedgerError(.damaged, file))
    damaged.record(entry("a"))
    #expect(damaged.unmade("a") == nil)
    #expect(throws: LedgerError(.damaged, file)) { try damaged.open() }
  }

  @Test func aMissingLedgerCannotBeRead() throws {
    #expect(throws: LedgerError(.missing, file)) { try Ledger(file, for: .reading).open() }
    #expect(!FileManager.default.fileExists(atPath: file.printable))
  }

  @Test func recordingFromManyThreadsLosesNothing() async throws {
    let ledger = Ledger(file, for: .writing)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for thread in 0..<4 {
        group.addTask {
          try await onThread {
            for number in 0..<2000 {
              ledger.record(entry(Path("\(thread)-\(number)")))
              if number % 100 == 0 { ledger.write() }
            }
          }
        }
      }
      try await group.waitForAll()
    }
    ledger.write()
    let entries = try entries()
    #expect(entries.count == 8000 && entries.allSatisfy { $0.times == 1 }, "each is written once")
  }

  /// Whoever can write to the output folder can write values of any type.
  @Test(arguments: [
    "time = 'abc'", "time = 9223372036854775807", "time = NULL", "path = 'text'", "path = 5", "outcome = x'FF'",
    "reason = x'1B5B'", "size = 'a', modified = x''", "deaths = 9223372036854775807, outcome = 'suspect'",
    "since = -1, times = 'x'", "hash = 1.5", "settings = 5, program = x'00'",
  ])
  func aRowOfAnyTypesCrashesNobody(change: String) throws {
    let ledger = Ledger(file, for: .writing)
    ledger.record(entry("a"))
    ledger.record(entry("b"))
    ledger.write()
    // The columns may have any type in a file that another program has made.
    try DatabaseQueue(path: file.printable).write { db in
      try db.execute(
        sql: "PRAGMA ignore_check_constraints = ON; UPDATE OR IGNORE source SET \(change) WHERE path = x'61'")
    }
    let forged = Ledger(file, for: .writing)
    _ = forged.unmade("a")
    #expect(try entries().contains { $0.source == "b" } && forged.problem == nil)
  }

  @Test func anEntryChangesNoTerminal() throws {
    let ledger = Ledger(file, for: .writing)
    ledger.record(entry("a", .failed(kind: "source", reason: "\u{1B}[31mred")))
    ledger.record(entry("b", .made(thumbnails: 1, first: "../../etc/passwd")))
    ledger.write()
    for entry in try entries() {
      switch entry.outcome {
      case .failed(_, let reason): #expect(!reason.contains("\u{1B}") && reason.contains("red"))
      case .made(_, let first): #expect(first == nil, "a place is in the output folder")
      case .suspect: Issue.record("\(entry)")
      }
    }
  }

  @Test func aLinkIsNotFollowed() throws {
    symlink("elsewhere", file.printable)
    #expect(throws: LedgerError(.foreign, file)) { try Ledger(file, for: .writing).open() }
    #expect(!place.exists("elsewhere"))
  }

  @Test func whatAnotherProcessDelaysIsWrittenLater() throws {
    let ledger = Ledger(file, for: .writing)
    try ledger.open()
    var settings = Configuration()
    settings.allowsUnsafeTransactions = true
    let other = try DatabaseQueue(path: file.printable, configuration: settings)
    try other.inDatabase { try $0.execute(sql: "BEGIN EXCLUSIVE") }
    for number in 0..<1500 { ledger.record(entry(Path("\(number)"))) }
    ledger.write()
    #expect(ledger.problem == nil)
    try other.inDatabase { try $0.execute(sql: "COMMIT") }
    ledger.write()
    #expect(try entries().count == 1500)
    try other.inDatabase { try $0.execute(sql: "BEGIN EXCLUSIVE") }
    ledger.record(entry("late"))
    ledger.write(isLast: true)
    #expect(ledger.problem?.kind == .busy)
    try other.inDatabase { try $0.execute(sql: "COMMIT") }
  }

  @Test(arguments: [
    ("ledger", true), ("ledger-3-of-64", true), ("ledger-broken", false), ("ledger-journal", false),
    ("ledger-3-of-64-journal", false), ("ledger-shm", false), ("ledger-", false), ("ledgers", false),
  ])
  func onlyLedgersHaveTheirNames(name: Path, isLedger: Bool) { #expect(Ledger.isName(name) == isLedger) }
}
