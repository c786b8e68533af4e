import Files
import Foundation
import GRDB
import Locking

/// Remembers what became of the sources of an output folder: which were made, which failed and why, and which were under
/// way when a process died.
///
/// It is a SQLite file with a rollback journal, because a write-ahead log needs shared memory, which network file systems
/// lack. The file is opened when it is first needed. Entries are written behind, many in one transaction: when ``write()``
/// is called, and when ``capacity`` of them wait. If the process is killed, those that wait are lost; the ledger is whole
/// all the same.
///
/// A ledger is an aid. If it fails, that is its ``problem``, and from then on it remembers nothing and knows nothing.
///
/// *Concurrency*: every member may be called from any thread. Several processes may use one file; each waits up to two
/// seconds for another's transaction.
public final class Ledger: Sendable {
  public enum Access: Sendable { case reading, writing }

  private struct State {
    /// The changes that are not written yet, by their source, with the number of the call that made each. The entry is nil
    /// if the source is to be forgotten.
    var waiting: [Path: (entry: LedgerEntry?, number: Int)] = [:]
    var number = 0
    /// Whether there may be sources that were not made. If not, no lookup is needed.
    var hasUnmade: Bool
    var problem: LedgerError?
  }

  /// How many entries wait at most. Whoever records one more writes them all.
  static let capacity = 1000

  public let file: Path
  /// Whether the file was missing at first.
  public let isNew: Bool
  private let access: Access
  private let isDurable: Bool
  /// Nil until it is open. Guarded by its lock, which is held while the file is opened. GRDB lets one thread at a time use
  /// it.
  private let database = Locked<DatabaseQueue?>(nil)
  /// Guarded by its lock, which is not held while the file is used.
  private let state: Locked<State>

  /// The name of the file in its folder.
  ///
  /// - Parameter part: the part of the sources that it is for, as text without slashes; nil for all. Where several processes
  ///   make a part each, each has a ledger of its own, so that none waits for another.
  public static func name(part: String? = nil) -> Path { Path(part.map { "ledger-\($0)" } ?? "ledger") }

  /// Whether a file of this name is a ledger.
  public static func isName(_ name: Path) -> Bool {
    let text = String(decoding: name.bytes, as: UTF8.self)
    return text == "ledger" || text.hasPrefix("ledger-") && !text.hasSuffix("-journal")
  }

  /// A ledger whose file is opened later.
  ///
  /// - Parameters:
  ///   - access: for writing, the file is made if it is missing.
  ///   - isDurable: whether what is written must outlive a crash of the system. It waits for the disk then, some ten
  ///     milliseconds for each transaction. Otherwise such a crash may damage the file.
  public init(_ file: Path, for access: Access, isDurable: Bool = false) {
    (self.file, self.access, self.isDurable) = (file, access, isDurable)
    var status = stat()
    isNew = file.withCString { stat($0, &status) } != 0 || status.st_size == 0
    state = Locked(State(hasUnmade: !isNew))
  }

  /// Opens the file, unless it is open.
  ///
  /// - Throws: ``LedgerError``, which is the ``problem`` then.
  public func open() throws(LedgerError) {
    if attempt({ _ in true }) == nil, let problem { throw problem }
  }

  /// The first error; nil if there was none.
  public var problem: LedgerError? { state.withLock { $0.problem } }

  /// What is remembered of a source that was not made; nil if nothing is, or if its thumbnails were made.
  ///
  /// - Complexity: one look-up in the file, and none if every source was made.
  public func unmade(_ source: Path) -> LedgerEntry? {
    guard state.withLock({ $0.hasUnmade }), let entry = entry(of: source) else { return nil }
    if case .made = entry.outcome { return nil }
    return entry
  }

  /// What is remembered of a source; nil if nothing is.
  ///
  /// - Complexity: one look-up in the file.
  public func entry(of source: Path) -> LedgerEntry? {
    if let waiting = state.withLock({ $0.waiting[source] }) { return waiting.entry }
    return attempt { database in try database.read { try LedgerTable.entry(of: source, in: $0) } } ?? nil
  }

  /// Remembers an entry instead of an earlier one of the same source.
  public func record(_ entry: LedgerEntry) { change(entry.source, entry) }

  /// Forgets a source.
  public func forget(_ source: Path) { change(source, nil) }

  private func change(_ source: Path, _ entry: LedgerEntry?) {
    let isFull = state.withLock { state in
      guard state.problem == nil else { return false }
      state.number += 1
      state.waiting[source] = (entry, state.number)
      if let entry, case .made = entry.outcome {} else { state.hasUnmade = true }
      return state.waiting.count >= Self.capacity
    }
    if isFull { write() }
  }

  /// Writes the changes that wait, in one transaction.
  public func write() {
    let waiting = state.withLock { $0.waiting }
    guard !waiting.isEmpty else { return }
    let isWritten = attempt { database in
      try database.write { db in
        for (source, change) in waiting {
          if let entry = change.entry {
            try LedgerTable.put(entry, into: db)
          } else {
            try LedgerTable.remove(source, from: db)
          }
        }
      }
      return true
    }
    guard isWritten == true else { return }
    state.withLock { state in
      // An entry that has been replaced meanwhile still waits.
      for (source, written) in waiting where state.waiting[source]?.number == written.number {
        state.waiting[source] = nil
      }
    }
  }

  /// At most ``capacity`` sources in the order of their paths, from the one after `last`; none if the ledger fails.
  ///
  /// Those that wait to be written are not among them.
  public func sources(after last: Path?) -> [Path] {
    attempt { database in
      try database.read { try LedgerTable.sources(after: last, limit: Self.capacity, in: $0) }
    } ?? []
  }

  /// Calls `body` for every entry, in the order of the paths. It may take its time: no transaction is open meanwhile.
  ///
  /// - Parameter isUnmade: passes over sources whose thumbnails were made.
  /// - Throws: ``LedgerError``, which is the ``problem`` then, and the errors of `body`.
  public func visit(unmadeOnly isUnmade: Bool = false, _ body: (LedgerEntry) throws -> Void) throws {
    var last: Path?
    while true {
      let page = attempt { database in
        try database.read { try LedgerTable.entries(after: last, limit: Self.capacity, unmadeOnly: isUnmade, in: $0) }
      }
      guard let page else { throw problem ?? LedgerError(.missing, file) }
      guard let end = page.last else { return }
      for entry in page { try body(entry) }
      last = end.source
    }
  }

  // MARK: The file

  /// Uses the file, and opens it first if need be; nil if that fails, which is the ``problem`` from then on.
  private func attempt<Value>(_ body: (DatabaseQueue) throws -> Value) -> Value? {
    if problem != nil { return nil }
    do {
      return try body(try opened())
    } catch {
      state.withLock { state in
        if state.problem == nil { state.problem = error as? LedgerError ?? LedgerError(error, file) }
        state.waiting = [:]
      }
      return nil
    }
  }

  private func opened() throws -> DatabaseQueue {
    try database.withLock { database in
      if let database { return database }
      if access == .reading, isNew { throw LedgerError(.missing, file) }
      let opened: DatabaseQueue
      let hasUnmade: Bool
      do {
        (opened, hasUnmade) = try open(readOnly: access == .reading)
      } catch let error as DatabaseError where access == .reading && error.resultCode == .SQLITE_READONLY {
        // A process has died in a transaction, which whoever reads next must take back.
        (opened, hasUnmade) = try open(readOnly: false)
      }
      // Changes that wait already may be of sources that were not made.
      state.withLock { if $0.waiting.isEmpty { $0.hasUnmade = hasUnmade } }
      database = opened
      return opened
    }
  }

  private func open(readOnly isReadOnly: Bool) throws -> (DatabaseQueue, hasUnmade: Bool) {
    let path = String(decoding: file.bytes, as: UTF8.self)
    let database = try DatabaseQueue(path: path, configuration: settings(readOnly: isReadOnly))
    if access == .writing { try database.write { try LedgerTable.make(in: $0, file) } }
    let hasUnmade = try database.read { db in
      if access == .reading { try LedgerTable.check(db, file) }
      return try LedgerTable.hasUnmade(db)
    }
    return (database, hasUnmade)
  }

  private func settings(readOnly isReadOnly: Bool) -> Configuration {
    var settings = Configuration()
    settings.readonly = isReadOnly
    settings.busyMode = .timeout(2)
    settings.label = "ledger"
    settings.prepareDatabase { [isDurable] db in
      // A file from elsewhere must not run code of its own; a damaged page is an error, not a wrong answer. SQLite may
      // keep a megabyte of pages.
      try db.execute(
        sql: """
          PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA cache_size = -1000;
          PRAGMA synchronous = \(isDurable ? "FULL" : "OFF")
          """)
    }
    return settings
  }
}
