import Files
import Foundation
import Ledger
import Places
import Sourcing

/// The ledgers of an output folder: one, or one for each part of the sources if several processes have made a part each.
package struct LedgerSet {
  package let output: Path
  private let files: [Path]
  /// The absolute output folder.
  private let start: Path

  /// - Throws: ``LedgerError`` of kind `missing` if there is none.
  package init(in output: Path) throws(LedgerError) {
    files = try Self.files(in: output)
    (self.output, start) = (output, output.absolute ?? output)
  }

  /// The ledgers of an output folder. An empty file is none yet: the disk may have been full when it was made.
  ///
  /// - Throws: ``LedgerError`` of kind `missing` if there is none.
  static func files(in output: Path) throws(LedgerError) -> [Path] {
    let folder = output.appending(SourceWalker.workingFolderName)
    var files: [Path] = []
    if case .success(let open) = OpenFolder.open(folder, in: AT_FDCWD) {
      while case .success(let entry?) = open.next() {
        let file = folder.appending(entry.name)
        if Ledger.isName(entry.name), (try? FileStatus.of(file, followingLinks: true).get())?.st_size != 0 {
          files.append(file)
        }
      }
    }
    guard !files.isEmpty else { throw LedgerError(.missing, folder.appending(Ledger.name())) }
    return files.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
  }

  /// Calls `body` for every entry of several output folders. Of a source that several ledgers have, only the latest entry
  /// counts.
  ///
  /// - Parameter isUnmade: passes over sources whose thumbnails were made.
  /// - Throws: ``LedgerError``, and the errors of `body`.
  package static func visit(
    _ sets: [LedgerSet], unmadeOnly isUnmade: Bool = false, _ body: (LedgerSet, LedgerEntry) throws -> Void
  ) throws {
    let ledgers = sets.flatMap { set in set.files.map { (set, $0) } }
    guard ledgers.count > 1 else {
      for (set, file) in ledgers { try Ledger(file, for: .reading).visit(unmadeOnly: isUnmade) { try body(set, $0) } }
      return
    }
    // The hash of a path, and the moment of its latest entry.
    var latest: [Int: Int] = [:]
    for (set, file) in ledgers {
      try Ledger(file, for: .reading).visit { entry in
        let hash = set.source(of: entry).hashValue
        latest[hash] = max(latest[hash] ?? .min, entry.moment)
      }
    }
    var passed: Set<Int> = []
    for (set, file) in ledgers {
      try Ledger(file, for: .reading).visit(unmadeOnly: isUnmade) { entry in
        let hash = set.source(of: entry).hashValue
        // A process that works may have renewed it meanwhile. Of two equally old ones, the first counts.
        guard entry.moment >= latest[hash] ?? .min, passed.insert(hash).inserted else { return }
        try body(set, entry)
      }
    }
  }

  /// Tells which sources are gone, by the disks that the ledgers have.
  ///
  /// - Throws: ``LedgerError``
  package func vanishedSources() throws(LedgerError) -> VanishedSources {
    var others: [Path] = []
    for file in files {
      for (path, known) in try Ledger(file, for: .reading).disks() {
        let place = start.following(path)
        if DiskIdentity(at: place)?.text != known { others.append(place) }
      }
    }
    return VanishedSources(otherDisks: others)
  }

  /// The absolute path of an entry's source.
  package func source(of entry: LedgerEntry) -> Path { start.following(entry.source) }

  /// The absolute path of a thumbnail.
  package func thumbnail(_ place: Path) -> Path { start.appending(place) }
}
