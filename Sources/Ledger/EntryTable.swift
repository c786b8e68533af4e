#if Ledger
import Files
import Foundation
import GRDB
import Locking

/// Texts by key, which may be replaced, and are read back in the order of the keys. They are in a SQLite file without a name,
/// so they take little memory however many there are, and nothing remains of them after the process.
///
/// *Concurrency*: every member may be called from any thread. GRDB lets one thread at a time use the file.
package final class EntryTable: Sendable {
  private let database: OpenFile
  /// Why a text could not be stored.
  private let failure = Locked<(any Error)?>(nil)

  /// How many texts are read at once, so that others can be stored meanwhile.
  private static let page = 256

  /// - Parameter file: for a moment, the name of the file. A file that has it is replaced.
  /// - Throws: ``LedgerError``
  package init(_ file: Path) throws(LedgerError) {
    var settings = Configuration()
    settings.prepareDatabase { database in
      // The file need not outlive the process.
      for pragma in ["journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE", "cache_size = -512"] {
        try database.execute(sql: "PRAGMA \(pragma)")
      }
    }
    unlink(file, in: AT_FDCWD)
    do {
      database = try OpenFile(file, settings)
      try database.queue.write { database in
        try database.execute(sql: "CREATE TABLE entry (key BLOB PRIMARY KEY, text BLOB NOT NULL) WITHOUT ROWID")
      }
    } catch {
      throw LedgerError(error, file)
    }
    unlink(file, in: AT_FDCWD)
  }

  /// Stores a text, or replaces the one with its key. ``visit(_:)`` throws the error if this fails.
  package func store(_ text: [UInt8], at key: [UInt8]) {
    change { try $0.execute(sql: "INSERT OR REPLACE INTO entry VALUES (?, ?)", arguments: [Data(key), Data(text)]) }
  }

  /// Removes a text, if there is one.
  package func remove(_ key: [UInt8]) {
    change { try $0.execute(sql: "DELETE FROM entry WHERE key = ?", arguments: [Data(key)]) }
  }

  /// Removes all texts whose keys begin with these bytes.
  ///
  /// - Parameter prefix: not empty; its last byte is not 255.
  package func remove(beginningWith prefix: [UInt8]) {
    var end = prefix
    end[end.count - 1] += 1
    change { [end] database in
      try database.execute(
        sql: "DELETE FROM entry WHERE key >= ? AND key < ?", arguments: [Data(prefix), Data(end)])
    }
  }

  private func change(_ body: @escaping @Sendable (Database) throws -> Void) {
    do { try database.queue.write(body) } catch { failure.withLock { $0 = $0 ?? error } }
  }

  /// Passes every text to `body`, in the order of the bytes of the keys.
  ///
  /// - Throws: the error of `body`, or why a text could not be stored or read.
  package func visit(_ body: ([UInt8]) throws -> Void) throws {
    if let failure = failure.withLock({ $0 }) { throw failure }
    var last: Data?
    while true {
      let rows = try database.queue.read { [last] database in
        let condition = last == nil ? "" : "WHERE key > ?"
        return try Row.fetchAll(
          database, sql: "SELECT key, text FROM entry \(condition) ORDER BY key LIMIT \(Self.page)",
          arguments: last.map { [$0] } ?? [])
      }
      for row in rows { try body([UInt8](row["text"] as Data)) }
      guard let end = rows.last, rows.count == Self.page else { return }
      last = end["key"]
    }
  }
}
#endif
