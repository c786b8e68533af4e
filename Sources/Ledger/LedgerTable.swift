import Files
import Foundation
import GRDB

/// The table of the ledger, and its statements.
///
/// | column | contents |
/// | --- | --- |
/// | `path` | the bytes of the source's path, from the output folder |
/// | `size`, `modified` | the version of the source: bytes, and nanoseconds since 1970 |
/// | `hash` | of all bytes of the source, if they were read for that |
/// | `outcome` | `made`, `failed` or `suspect` |
/// | `kind`, `reason` | of a failure |
/// | `thumbnails`, `first` | how many were made, and the place of one in the output folder |
/// | `deaths` | of a suspect |
/// | `settings`, `program` | a fingerprint of the settings, and the program's version |
/// | `since`, `time`, `times` | the first and the last time in seconds since 1970, and how often |
enum LedgerTable {
  /// "thmb", so that other programs' files are recognised.
  private static let application = 0x7468_6D62
  private static let version = 1

  /// Makes the table in a new file.
  ///
  /// - Throws: ``LedgerError`` if the file is of another program or a newer version.
  static func make(in db: Database, _ file: Path) throws {
    let tables = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") ?? 0
    guard tables == 0 else { return try check(db, file) }
    try db.execute(
      sql: """
        PRAGMA application_id = \(application);
        PRAGMA user_version = \(version);
        CREATE TABLE source (
          path BLOB PRIMARY KEY, size INTEGER, modified INTEGER, hash INTEGER, outcome TEXT NOT NULL, kind TEXT, reason TEXT,
          thumbnails INTEGER, first BLOB, deaths INTEGER, settings TEXT NOT NULL, program TEXT NOT NULL,
          since INTEGER NOT NULL, time INTEGER NOT NULL, times INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX unmade ON source (path) WHERE outcome <> 'made';
        CREATE TABLE state (complete INTEGER NOT NULL);
        INSERT INTO state VALUES (0);
        """)
  }

  /// - Throws: ``LedgerError`` if the file is of another program or a newer version.
  static func check(_ db: Database, _ file: Path) throws {
    guard try Int.fetchOne(db, sql: "PRAGMA application_id") == application else { throw LedgerError(.foreign, file) }
    guard try Int.fetchOne(db, sql: "PRAGMA user_version") == version else { throw LedgerError(.newer, file) }
  }

  /// Whether the last process that wrote to the file had entered everything.
  static func isComplete(_ db: Database) throws -> Bool {
    try Bool.fetchOne(db, sql: "SELECT complete FROM state") ?? false
  }

  static func setComplete(_ isComplete: Bool, in db: Database) throws {
    try db.execute(sql: "UPDATE state SET complete = ?", arguments: [isComplete])
  }

  static func hasUnmade(_ db: Database) throws -> Bool {
    try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM source WHERE outcome <> 'made')") ?? false
  }

  /// Inserts an entry, or replaces that of its source. The same outcome of the same version is counted.
  static func put(_ entry: LedgerEntry, into db: Database) throws {
    let statement = try db.cachedStatement(
      sql: """
        INSERT INTO source VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)
        ON CONFLICT (path) DO UPDATE SET
          (since, times) = (SELECT
            CASE WHEN same THEN since ELSE excluded.since END, CASE WHEN same THEN times + 1 ELSE 1 END
            FROM (SELECT outcome = excluded.outcome AND size IS excluded.size AND modified IS excluded.modified AS same)),
          (size, modified, hash, outcome, kind, reason, thumbnails, first, deaths, settings, program, time) =
          (excluded.size, excluded.modified, excluded.hash, excluded.outcome, excluded.kind, excluded.reason, excluded.thumbnails,
            excluded.first, excluded.deaths, excluded.settings, excluded.program, excluded.time)
        """)
    var (name, kind, reason) = ("", nil as String?, nil as String?)
    var (thumbnails, first, deaths) = (nil as Int?, nil as Data?, nil as Int?)
    switch entry.outcome {
    case .made(let count, let place): (name, thumbnails, first) = ("made", count, place.map { Data($0.bytes) })
    case .failed(let word, let text): (name, kind, reason) = ("failed", word, text)
    case .suspect(let count): (name, deaths) = ("suspect", count)
    }
    try statement.execute(
      arguments: [
        Data(entry.source.bytes), entry.version?.bytes, entry.version?.modified,
        entry.hash.map { Int64(bitPattern: $0) }, name, kind, reason, thumbnails, first,
        deaths, entry.settings, entry.program, entry.since, entry.time,
      ])
  }

  static func remove(_ source: Path, from db: Database) throws {
    try db.cachedStatement(sql: "DELETE FROM source WHERE path = ?").execute(arguments: [Data(source.bytes)])
  }

  static func entry(of source: Path, in db: Database) throws -> LedgerEntry? {
    let statement = try db.cachedStatement(sql: "SELECT * FROM source WHERE path = ?")
    return try Row.fetchOne(statement, arguments: [Data(source.bytes)]).flatMap { LedgerEntry($0) }
  }

  /// At most `limit` entries in the order of their paths, from the one after `last`; with `isUnmade` without those that were
  /// made.
  static func entries(
    after last: Path?, limit: Int, unmadeOnly isUnmade: Bool, in db: Database
  ) throws -> [LedgerEntry] {
    let condition = isUnmade ? "AND outcome <> 'made'" : ""
    let statement = try db.cachedStatement(
      sql: "SELECT * FROM source WHERE path > ? \(condition) ORDER BY path LIMIT ?")
    return try Row.fetchAll(statement, arguments: [Data(last?.bytes ?? []), limit]).compactMap { LedgerEntry($0) }
  }
}

extension LedgerEntry {
  /// Nil for a row that no version of the program writes. Anyone may have written the file, so values may have any type.
  fileprivate init?(_ row: Row) {
    func number(_ name: String) -> Int? { Int.fromDatabaseValue(row[name]) }
    func text(_ name: String) -> String? { String.fromDatabaseValue(row[name]) }
    func path(_ name: String) -> Path? { Data.fromDatabaseValue(row[name]).flatMap { Path(bytes: $0) } }
    /// One line, which changes no terminal.
    func line(_ name: String) -> String { printableText(of: Array((text(name) ?? "").utf8)) }
    let times = 0...1 << 40
    guard let source = path("path"), !source.isEmpty, let name = text("outcome"), let time = number("time"),
      times.contains(time)
    else { return nil }
    let outcome: Outcome
    switch name {
    case "made":
      let first = path("first")
      let isPlace = first.map { !$0.isAbsolute && $0.normalized == $0 && !$0.isEmpty } ?? false
      outcome = .made(thumbnails: max(0, min(number("thumbnails") ?? 0, 1 << 20)), first: isPlace ? first : nil)
    case "failed": outcome = .failed(kind: line("kind"), reason: line("reason"))
    case "suspect": outcome = .suspect(deaths: max(1, min(number("deaths") ?? 1, 1 << 20)))
    default: return nil
    }
    var version: Version?
    if let size = number("size"), let modified = number("modified") {
      version = Version(bytes: size, modified: modified)
    }
    self.init(
      source, version: version, outcome: outcome, settings: line("settings"), program: line("program"), time: time)
    hash = Int64.fromDatabaseValue(row["hash"]).map { UInt64(bitPattern: $0) }
    since = number("since").flatMap { times.contains($0) ? $0 : nil } ?? time
    self.times = max(1, min(number("times") ?? 1, 1 << 40))
  }
}
