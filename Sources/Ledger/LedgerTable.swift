#if Ledger
import Files
import Foundation
import GRDB

/// The tables of the ledger, and their statements.
///
/// | column of `source` | contents |
/// | --- | --- |
/// | `path` | the bytes of the source's path, from the output folder |
/// | `size`, `modified`, `state` | the version of the source: bytes, nanoseconds since 1970 modulo 2⁶⁴, and a fingerprint |
/// | `hash` | of all bytes of the source, if they were read for that |
/// | `outcome` | `made`, `failed` or `suspect` |
/// | `kind`, `reason` | of a failure |
/// | `thumbnails`, `first` | how many were made, and the place of one in the output folder |
/// | `print` | a fingerprint of the thumbnails' files |
/// | `key` | identifies the source in the marks of its thumbnails |
/// | `deaths` | of a suspect |
/// | `settings`, `program` | a fingerprint of the settings, and the program's version |
/// | `since`, `time`, `times` | the first and the last time in seconds since 1970, and how often |
/// | `moment` | the last time in nanoseconds since 1970 |
/// | `looks` | a hash of what the thumbnails look like that were made of the contents with `hash` |
/// | `digest` | the SHA-256 digest of the source, in the ledger of a list of checksums |
///
/// `disk` has the source folders and the mount points in them: `path`, and what identifies the disk that was there
/// (`identity`).
enum LedgerTable {
  /// "thmb", so that other programs' files are recognised.
  private static let application = 0x7468_6D62
  private static let version = 4
  /// The version with another hash, and without an index of sizes.
  private static let third = 3
  /// The version without the column `digest`.
  private static let second = 2
  /// The version without the columns `state`, `print`, `key` and `moment`, and without disks.
  private static let first = 1

  /// Makes the tables in a new file, and adds what a file of an earlier version lacks.
  ///
  /// - Throws: ``LedgerError`` if the file is of another program or a newer version.
  static func make(in db: Database, _ file: Path) throws {
    let tables = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") ?? 0
    if tables == 0 {
      try db.execute(
        sql: """
          PRAGMA application_id = \(application);
          CREATE TABLE source (
            path BLOB PRIMARY KEY, size INTEGER, modified INTEGER, hash INTEGER, outcome TEXT NOT NULL, kind TEXT, reason TEXT,
            thumbnails INTEGER, first BLOB, deaths INTEGER, settings TEXT NOT NULL, program TEXT NOT NULL,
            since INTEGER NOT NULL, time INTEGER NOT NULL, times INTEGER NOT NULL
          ) WITHOUT ROWID;
          CREATE INDEX unmade ON source (path) WHERE outcome <> 'made';
          """)
    } else {
      try check(db, file)
    }
    if try versionFound(db) < second { try addColumnsOfSecond(to: db) }
    if try versionFound(db) < third {
      try db.execute(sql: "ALTER TABLE source ADD COLUMN digest BLOB; PRAGMA user_version = \(third)")
    }
    if try versionFound(db) < version {
      try db.execute(
        sql: """
          UPDATE source SET hash = NULL WHERE hash IS NOT NULL;
          ALTER TABLE source ADD COLUMN looks INTEGER;
          CREATE INDEX sizes ON source (size, modified) WHERE hash IS NOT NULL;
          PRAGMA user_version = \(version)
          """)
    }
  }

  private static func addColumnsOfSecond(to db: Database) throws {
    try db.execute(
      sql: """
        PRAGMA user_version = \(second);
        DROP TABLE IF EXISTS state;
        ALTER TABLE source ADD COLUMN state INTEGER;
        ALTER TABLE source ADD COLUMN print INTEGER;
        ALTER TABLE source ADD COLUMN key INTEGER;
        ALTER TABLE source ADD COLUMN moment INTEGER;
        CREATE INDEX keys ON source (key) WHERE key IS NOT NULL;
        CREATE TABLE disk (path BLOB PRIMARY KEY, identity TEXT NOT NULL) WITHOUT ROWID;
        """)
  }

  /// - Throws: ``LedgerError`` if the file is of another program or a newer version.
  static func check(_ db: Database, _ file: Path) throws {
    guard try Int.fetchOne(db, sql: "PRAGMA application_id") == application else { throw LedgerError(.foreign, file) }
    guard (first...version).contains(try versionFound(db)) else { throw LedgerError(.newer, file) }
  }

  private static func versionFound(_ db: Database) throws -> Int {
    try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
  }

  /// Whether the file has keys and disks.
  private static func isAtLeastSecond(_ db: Database) throws -> Bool { try versionFound(db) >= second }

  static func hasUnmade(_ db: Database) throws -> Bool {
    try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM source WHERE outcome <> 'made')") ?? false
  }

  /// Inserts an entry, or replaces that of its source. The same outcome of the same version is counted.
  static func put(_ entry: LedgerEntry, into db: Database) throws {
    let statement = try db.cachedStatement(
      sql: """
        INSERT INTO source (
          path, size, modified, hash, outcome, kind, reason, thumbnails, first, deaths, settings, program, since, time, times,
          state, print, key, moment, digest, looks
        ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (path) DO UPDATE SET
          (since, times) = (SELECT
            CASE WHEN same THEN since ELSE excluded.since END, CASE WHEN same THEN times + 1 ELSE 1 END
            FROM (SELECT outcome = excluded.outcome AND size IS excluded.size AND modified IS excluded.modified AS same)),
          (size, modified, hash, outcome, kind, reason, thumbnails, first, deaths, settings, program, time, state, print, key,
            moment, digest, looks) =
          (excluded.size, excluded.modified, excluded.hash, excluded.outcome, excluded.kind, excluded.reason, excluded.thumbnails,
            excluded.first, excluded.deaths, excluded.settings, excluded.program, excluded.time, excluded.state,
            excluded.print, excluded.key, excluded.moment, excluded.digest, excluded.looks)
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
        deaths, entry.settings, entry.program, entry.since, entry.time, entry.version?.state, entry.thumbnails,
        entry.key.map { Int64(bitPattern: $0) }, entry.moment, entry.digest.map { Data($0) },
        entry.looks.map { Int64(bitPattern: $0) },
      ])
  }

  static func remove(_ source: Path, from db: Database) throws {
    try db.cachedStatement(sql: "DELETE FROM source WHERE path = ?").execute(arguments: [Data(source.bytes)])
  }

  /// The columns in the order in which ``LedgerEntry`` reads them.
  private static func columns(in db: Database) throws -> String {
    let version = try versionFound(db)
    let newer =
      (version < second ? "NULL, NULL, NULL, NULL" : "state, print, key, moment")
      + (version < third ? ", NULL" : ", digest")
    let (hash, looks) = version < Self.version ? ("NULL", "NULL") : ("hash", "looks")
    return "path, size, modified, \(hash), outcome, kind, reason, thumbnails, first, deaths, settings, program, since, "
      + "time, times, \(newer), \(looks)"
  }

  static func entry(of source: Path, in db: Database) throws -> LedgerEntry? {
    let statement = try db.cachedStatement(sql: "SELECT \(try columns(in: db)) FROM source WHERE path = ?")
    return try Row.fetchOne(statement, arguments: [Data(source.bytes)]).flatMap { LedgerEntry($0) }
  }

  /// The entries with a hash of sources that had this size: at most `limit` with the same time too, and as many with
  /// an earlier and with a later one.
  static func entries(like version: LedgerEntry.Version, limit: Int, in db: Database) throws -> [LedgerEntry] {
    guard try versionFound(db) == Self.version else { return [] }
    let start = "SELECT \(try columns(in: db)) FROM source WHERE hash IS NOT NULL AND size = ? "
    return try ["modified = ?", "modified < ?", "modified > ?"].flatMap { condition in
      let statement = try db.cachedStatement(sql: "\(start) AND \(condition) LIMIT ?")
      return try Row.fetchAll(statement, arguments: [version.bytes, version.modified, limit])
        .compactMap { LedgerEntry($0) }
    }
  }

  /// The sources with this key in their marks. Only an accident gives two sources one key.
  static func sources(withKey key: UInt64, in db: Database) throws -> [Path] {
    guard try isAtLeastSecond(db) else { return [] }
    let statement = try db.cachedStatement(sql: "SELECT path FROM source WHERE key = ?")
    return try Data.fetchAll(statement, arguments: [Int64(bitPattern: key)]).compactMap { Path(bytes: $0) }
  }

  /// At most `limit` entries in the order of their paths, from the one after `last`.
  ///
  /// - Parameters:
  ///   - folder: only those below it; nil for all.
  ///   - isUnmade: without those that were made.
  static func entries(
    after last: Path?, below folder: Path?, limit: Int, unmadeOnly isUnmade: Bool, in db: Database
  ) throws -> [LedgerEntry] {
    let (first, end) = range(below: folder)
    let start = last.map { Data($0.bytes) } ?? first
    let condition = (isUnmade ? "AND outcome <> 'made' " : "") + (end == nil ? "" : "AND path < ? ")
    let statement = try db.cachedStatement(
      sql: "SELECT \(try columns(in: db)) FROM source WHERE path > ? \(condition) ORDER BY path LIMIT ?")
    let arguments: StatementArguments = end.map { [start, $0, limit] } ?? [start, limit]
    return try Row.fetchAll(statement, arguments: arguments).compactMap { LedgerEntry($0) }
  }

  /// The entries of the files in a folder, without those in folders of it; nil if there are more than `limit`, or if more than
  /// as many folders lie between them.
  static func entries(inFolder folder: Path, limit: Int, in db: Database) throws -> [LedgerEntry]? {
    let (first, end) = range(below: folder)
    let condition = end == nil ? "" : "AND path < ? "
    let statement = try db.cachedStatement(
      sql: "SELECT \(try columns(in: db)) FROM source WHERE path >= ? \(condition) ORDER BY path")
    var (found, start) = ([LedgerEntry](), first)
    for _ in 0...limit {
      var next: Data?
      let rows = try Row.fetchCursor(statement, arguments: end.map { [start, $0] } ?? [start])
      while let row = try rows.next() {
        guard let entry = LedgerEntry(row) else { continue }
        let rest = entry.source.bytes.dropFirst(first.count)
        if let slash = rest.firstIndex(of: UInt8(ascii: "/")) {
          // Everything below the folder sorts before its name with the byte that follows a slash.
          next = Data(entry.source.bytes[..<slash] + [UInt8(ascii: "/") + 1])
          break
        }
        found.append(entry)
        if found.count > limit { return nil }
      }
      guard let next else { return found }
      start = next
    }
    return nil
  }

  /// How many sources below a folder were made.
  static func countMade(below folder: Path, in db: Database) throws -> Int {
    let (first, end) = range(below: folder)
    let condition = end == nil ? "" : "AND path < ?"
    let statement = try db.cachedStatement(
      sql: "SELECT count(*) FROM source WHERE outcome = 'made' AND path > ? \(condition)")
    return try Int.fetchOne(statement, arguments: end.map { [first, $0] } ?? [first]) ?? 0
  }

  /// The bounds of the paths below a folder: both are outside; no end if the folder is the beginning of all.
  private static func range(below folder: Path?) -> (first: Data, end: Data?) {
    guard let folder, !folder.isEmpty else { return (Data(), nil) }
    return (Data(folder.bytes + [UInt8(ascii: "/")]), Data(folder.bytes + [UInt8(ascii: "/") + 1]))
  }

  static func disks(in db: Database) throws -> [Path: String] {
    guard try isAtLeastSecond(db) else { return [:] }
    var found: [Path: String] = [:]
    for row in try Row.fetchAll(db, sql: "SELECT path, identity FROM disk") {
      guard let path = Data.fromDatabaseValue(row[0]).flatMap({ Path(bytes: $0) }) else { continue }
      found[path] = String.fromDatabaseValue(row[1])
    }
    return found
  }

  static func put(disk identity: String, at path: Path, into db: Database) throws {
    try db.execute(
      sql: "INSERT OR REPLACE INTO disk (path, identity) VALUES (?, ?)", arguments: [Data(path.bytes), identity])
  }

  static func removeDisk(at path: Path, from db: Database) throws {
    try db.execute(sql: "DELETE FROM disk WHERE path = ?", arguments: [Data(path.bytes)])
  }
}

extension LedgerEntry {
  /// Nil for a row that no version of the program writes. Anyone may have written the file, so values may have any type.
  ///
  /// - Parameter row: the columns of `LedgerTable.columns`.
  fileprivate init?(_ row: Row) {
    func number(_ column: Int) -> Int? { Int.fromDatabaseValue(row[column]) }
    func text(_ column: Int) -> String? { String.fromDatabaseValue(row[column]) }
    func path(_ column: Int) -> Path? { Data.fromDatabaseValue(row[column]).flatMap { Path(bytes: $0) } }
    /// One line, which changes no terminal.
    func line(_ column: Int) -> String { printableText(of: Array((text(column) ?? "").utf8)) }
    let times = 0...1 << 40
    guard let source = path(0), !source.isEmpty, let name = text(4), let time = number(13), times.contains(time) else {
      return nil
    }
    let outcome: Outcome
    switch name {
    case "made":
      let first = path(8)
      let isPlace = first.map { !$0.isAbsolute && $0.normalized == $0 && !$0.isEmpty } ?? false
      outcome = .made(thumbnails: max(0, min(number(7) ?? 0, 1 << 20)), first: isPlace ? first : nil)
    case "failed": outcome = .failed(kind: line(5), reason: line(6))
    case "suspect": outcome = .suspect(deaths: max(1, min(number(9) ?? 1, 1 << 20)))
    default: return nil
    }
    var version: Version?
    if let size = number(1), let modified = number(2) {
      version = Version(bytes: size, modified: modified, state: number(15))
    }
    self.init(source, version: version, outcome: outcome, settings: line(10), program: line(11), time: time)
    hash = Int64.fromDatabaseValue(row[3]).map { UInt64(bitPattern: $0) }
    since = number(12).flatMap { times.contains($0) ? $0 : nil } ?? time
    self.times = max(1, min(number(14) ?? 1, 1 << 40))
    thumbnails = number(16)
    key = Int64.fromDatabaseValue(row[17]).map { UInt64(bitPattern: $0) }
    if let known = number(18) { moment = known }
    digest = Data.fromDatabaseValue(row[19]).map { Array($0) }
    looks = Int64.fromDatabaseValue(row[20]).map { UInt64(bitPattern: $0) }
  }
}
#endif
