#if Ledger
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
package final class Ledger: Sendable {
  package enum Access: Sendable { case reading, writing }

  private struct State {
    /// The changes that are not written yet, by their source, with the number of the call that made each. The entry is nil
    /// if the source is to be forgotten.
    var waiting: [Path: (entry: LedgerEntry?, number: Int)] = [:]
    var number = 0
    /// Whether there may be sources that were not made. If not, no lookup is needed.
    var hasUnmade: Bool
    /// Whether the file was missing when it was looked at.
    var isNew: Bool
    var problem: LedgerError?
    /// Whether the last try to write failed because another process was using the file.
    var isBusy = false
    /// Whether the file may have entries.
    var hasEntries: Bool
    /// How many transactions were written.
    var writes = 0
    /// The entries of the folder of which an entry was last looked up: the sources of a folder are looked up in a row.
    var shelf: Shelf?
  }

  /// The entries of the files in one folder.
  private struct Shelf {
    let folder: Path
    /// Nil if there are too many to keep.
    var entries: [Path: LedgerEntry]?
  }

  /// The most entries of a folder that are kept. Each takes some 300 bytes.
  private static let shelfLimit = 4096

  /// How many entries wait at most. Whoever records one more writes them all.
  static let capacity = 1000
  /// How many wait at most while another process is using the file.
  private static let mostWaiting = 50 * capacity

  package let file: Path
  /// Whether the file was missing at first.
  package var isNew: Bool { state.withLock { $0.isNew } }
  private let access: Access
  private let isDurable: Bool
  /// Nil until it is open. Guarded by its lock, which is held while the file is opened. GRDB lets one thread at a time use
  /// it.
  private let database = Locked<OpenFile?>(nil)
  /// Guarded by its lock, which is not held while the file is used.
  private let state: Locked<State>
  /// Held while changes are written, so that two threads do not write the same ones.
  private let writing = Locked(())

  /// A ledger whose file is opened later.
  ///
  /// - Parameters:
  ///   - access: for writing, the file is made if it is missing.
  ///   - isDurable: whether what is written must outlive a crash of the system. It waits for the disk then, some ten
  ///     milliseconds for each transaction. Otherwise such a crash may damage the file.
  package init(_ file: Path, for access: Access, isDurable: Bool = false) {
    (self.file, self.access, self.isDurable) = (file, access, isDurable)
    let isNew = Self.isMissing(file)
    state = Locked(State(hasUnmade: !isNew, isNew: isNew, hasEntries: !isNew))
  }

  private static func isMissing(_ file: Path) -> Bool {
    var status = stat()
    return file.withCString { stat($0, &status) } != 0 || status.st_size == 0
  }

  /// Looks whether another process has made the file since, or entered something, unless this one uses it already.
  package func lookAgain() {
    let isNew = Self.isMissing(file)
    database.withLock { database in
      if database == nil { state.withLock { ($0.isNew, $0.hasUnmade, $0.hasEntries) = (isNew, !isNew, !isNew) } }
    }
  }

  /// Opens the file, unless it is open.
  ///
  /// - Throws: ``LedgerError``, which is the ``problem`` then.
  package func open() throws(LedgerError) {
    if attempt({ _ in true }) == nil, let problem { throw problem }
  }

  /// The first error; nil if there was none.
  package var problem: LedgerError? { state.withLock { $0.problem } }

  /// Whether there may be sources that were not made.
  package var mayHaveUnmade: Bool { state.withLock { $0.hasUnmade } }

  /// What is remembered of a source that was not made; nil if nothing is, or if its thumbnails were made.
  ///
  /// - Complexity: one look-up in the file, and none if every source was made.
  package func unmade(_ source: Path) -> LedgerEntry? {
    guard mayHaveUnmade, let entry = entry(of: source) else { return nil }
    if case .made = entry.outcome { return nil }
    return entry
  }

  /// What is remembered of a source; nil if nothing is, or if another process is using the file.
  ///
  /// - Complexity: one look-up in the file for the sources of a folder that are looked up one after the other, unless the
  ///   folder has very many.
  package func entry(of source: Path) -> LedgerEntry? {
    let folder = source.parent
    let (known, kept, writes) = state.withLock { state -> (LedgerEntry??, Shelf?, Int) in
      if let waiting = state.waiting[source] { return (.some(waiting.entry), nil, 0) }
      // Otherwise each look-up would wait for the other process.
      if !state.hasEntries || state.isBusy { return (.some(nil), nil, 0) }
      guard let shelf = state.shelf, shelf.folder == folder else { return (nil, nil, state.writes) }
      return (shelf.entries.map { $0[source] }, shelf, state.writes)
    }
    if let known { return known }
    if kept == nil {
      let found = attempt(isTriedAgain: true) { database in
        try database.read { try LedgerTable.entries(inFolder: folder, limit: Self.shelfLimit, in: $0) }
      }
      guard let found else { return nil }
      let shelf = Shelf(
        folder: folder, entries: found.map { Dictionary($0.map { ($0.source, $0) }, uniquingKeysWith: { $1 }) })
      let isCurrent = state.withLock { state in
        // What was written meanwhile is not in it.
        if state.writes == writes { state.shelf = shelf }
        return state.writes == writes
      }
      if isCurrent, let entries = shelf.entries { return entries[source] }
    }
    return attempt(isTriedAgain: true) { database in try database.read { try LedgerTable.entry(of: source, in: $0) } }
      ?? nil
  }

  /// Whether there is an entry of a source below a folder.
  package func hasEntries(below folder: Path) -> Bool {
    let (isWaiting, hasEntries) = state.withLock { state in
      (state.waiting.contains { $0.value.entry != nil && $0.key.below(folder) != nil }, state.hasEntries)
    }
    if isWaiting || !hasEntries { return isWaiting }
    let page = attempt(isTriedAgain: true) { database in
      try database.read {
        try LedgerTable.entries(after: nil, below: folder, limit: 1, unmadeOnly: false, in: $0)
      }
    }
    return page?.isEmpty == false
  }

  /// How many sources below a folder were made, of those that are written; nil if that cannot be read.
  ///
  /// - Complexity: one pass over the entries in the file, a fraction of a microsecond for each.
  package func countMade(below folder: Path) -> Int? {
    attempt(isTriedAgain: true) { database in
      try database.read { try LedgerTable.countMade(below: folder, in: $0) }
    }
  }

  /// The entries with a hash of sources that had this size, of those that are written: a few with the same time too, and a
  /// few others.
  package func entries(like version: LedgerEntry.Version) -> [LedgerEntry] {
    guard state.withLock({ $0.hasEntries && !$0.isBusy }) else { return [] }
    let found = attempt(isTriedAgain: true) { database in
      try database.read { try LedgerTable.entries(like: version, limit: Self.mostAlike, in: $0) }
    }
    return found ?? []
  }

  /// Of files of one size, as raw pictures are, there may be very many.
  private static let mostAlike = 8

  /// The sources whose thumbnails name them by this key.
  package func sources(withKey key: UInt64) -> [Path] {
    let (waiting, hasEntries) = state.withLock { ($0.waiting, $0.hasEntries) }
    let unwritten = waiting.filter { $0.value.entry?.key == key }.map(\.key)
    guard hasEntries else { return unwritten }
    let written = attempt { database in try database.read { try LedgerTable.sources(withKey: key, in: $0) } } ?? []
    return unwritten + written.filter { waiting[$0] == nil }
  }

  // MARK: Disks

  /// What identifies the disks that were at the source folders, and at the mount points in them.
  ///
  /// - Throws: ``LedgerError``, which is the ``problem`` then.
  package func disks() throws(LedgerError) -> [Path: String] {
    if let disks = attempt({ database in try database.read { try LedgerTable.disks(in: $0) } }) { return disks }
    throw problem ?? LedgerError(.missing, file)
  }

  /// Remembers the disk at a path, instead of one that was there before.
  package func record(disk identity: String, at path: Path) {
    attempt { try $0.write { try LedgerTable.put(disk: identity, at: path, into: $0) } }
  }

  /// Forgets the disk at a path.
  package func forgetDisk(at path: Path) { attempt { try $0.write { try LedgerTable.removeDisk(at: path, from: $0) } } }

  /// Remembers an entry instead of an earlier one of the same source.
  package func record(_ entry: LedgerEntry) { change(entry.source, entry) }

  /// Forgets a source.
  package func forget(_ source: Path) { change(source, nil) }

  private func change(_ source: Path, _ entry: LedgerEntry?) {
    let isFull = state.withLock { state in
      guard state.problem == nil else { return false }
      state.number += 1
      state.waiting[source] = (entry, state.number)
      if let entry, case .made = entry.outcome {} else { state.hasUnmade = true }
      // While another process is using the file, more of them wait, so that not every change waits for that process.
      return state.waiting.count >= (state.isBusy ? Self.mostWaiting : Self.capacity)
    }
    if isFull { write() }
  }

  /// Writes the changes that wait, in one transaction.
  ///
  /// - Parameter isLast: whether there is no further try if another process is using the file.
  package func write(isLast: Bool = false) { writing.withLock { _ in writeWaiting(isLast: isLast) } }

  private func writeWaiting(isLast: Bool) {
    let waiting = state.withLock { $0.waiting }
    guard !waiting.isEmpty else { return }
    let isWritten = attempt(isTriedAgain: !isLast) { database in
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
      (state.isBusy, state.hasEntries) = (false, true)
      state.writes += 1
      // An entry that has been replaced meanwhile still waits.
      for (source, written) in waiting where state.waiting[source]?.number == written.number {
        state.waiting[source] = nil
        if state.shelf?.folder == source.parent { state.shelf?.entries?[source] = written.entry }
      }
    }
  }

  /// Calls `body` for every entry, in the order of the paths. It may take its time: no transaction is open meanwhile.
  ///
  /// - Parameters:
  ///   - isUnmade: passes over sources whose thumbnails were made.
  ///   - folder: passes only the sources below it; nil for all.
  /// - Throws: ``LedgerError``, which is the ``problem`` then, and the errors of `body`.
  package func visit(
    unmadeOnly isUnmade: Bool = false, below folder: Path? = nil, _ body: (LedgerEntry) throws -> Void
  ) throws {
    var last: Path?
    while true {
      let page = attempt { database in
        try database.read {
          try LedgerTable.entries(
            after: last, below: folder, limit: Self.capacity, unmadeOnly: isUnmade, in: $0)
        }
      }
      guard let page else { throw problem ?? LedgerError(.missing, file) }
      guard let end = page.last else { return }
      for entry in page { try body(entry) }
      last = end.source
    }
  }

  // MARK: The file

  /// Uses the file, and opens it first if need be; nil if that fails, which is the ``problem`` from then on.
  ///
  /// - Parameter isTriedAgain: whether it is no problem yet if another process is using the file.
  @discardableResult
  private func attempt<Value>(isTriedAgain: Bool = false, _ body: (DatabaseQueue) throws -> Value) -> Value? {
    if problem != nil { return nil }
    do {
      return try body(try opened())
    } catch {
      let error = error as? LedgerError ?? LedgerError(error, file)
      state.withLock { state in
        state.isBusy = error.kind == .busy
        if state.isBusy, isTriedAgain, state.waiting.count < Self.mostWaiting { return }
        if state.problem == nil { state.problem = error }
        state.waiting = [:]
      }
      return nil
    }
  }

  private func opened() throws -> DatabaseQueue {
    try database.withLock { database in
      if let database { return database.queue }
      // SQLite would follow a link, and make a file where it leads.
      if case .success(let status) = FileStatus.of(file, followingLinks: false), status.kind != .regular {
        throw LedgerError(.foreign, file)
      }
      if access == .reading, isNew { throw LedgerError(.missing, file) }
      let opened: OpenFile
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
      return opened.queue
    }
  }

  private func open(readOnly isReadOnly: Bool) throws -> (OpenFile, hasUnmade: Bool) {
    let database = try OpenFile(file, settings(readOnly: isReadOnly))
    if access == .writing { try database.queue.write { try LedgerTable.make(in: $0, file) } }
    let hasUnmade = try database.queue.read { db in
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
#endif
