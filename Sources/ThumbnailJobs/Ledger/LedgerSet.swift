import Files
import Foundation
import Ledger

/// The ledgers of an output folder: one, or one for each part of the sources if several processes have made a part each.
public struct LedgerSet {
  public let output: Path
  private let files: [Path]
  /// The absolute output folder.
  private let start: Path

  /// - Throws: ``LedgerError`` of kind `missing` if there is none.
  public init(in output: Path) throws(LedgerError) {
    files = try Self.files(in: output)
    (self.output, start) = (output, output.absolute ?? output)
  }

  /// The ledgers of an output folder.
  ///
  /// - Throws: ``LedgerError`` of kind `missing` if there is none.
  static func files(in output: Path) throws(LedgerError) -> [Path] {
    let folder = output.appending(SourceWalker.workingFolderName)
    var files: [Path] = []
    if case .success(let open) = OpenFolder.open(folder, in: AT_FDCWD) {
      while case .success(let entry?) = open.next() {
        if Ledger.isName(entry.name) { files.append(folder.appending(entry.name)) }
      }
    }
    guard !files.isEmpty else { throw LedgerError(.missing, folder.appending(Ledger.name())) }
    return files.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
  }

  /// Calls `body` for every entry. Of a source that several ledgers have, only the latest entry counts.
  ///
  /// - Parameter isUnmade: passes over sources whose thumbnails were made.
  /// - Throws: ``LedgerError``, and the errors of `body`.
  public func visit(unmadeOnly isUnmade: Bool = false, _ body: (LedgerEntry) throws -> Void) throws {
    // The hash of a path, and the time of its latest entry.
    var latest: [Int: Int] = [:]
    if files.count > 1 {
      for file in files {
        try Ledger(file, for: .reading).visit { entry in
          let hash = entry.source.hashValue
          latest[hash] = max(latest[hash] ?? .min, entry.time)
        }
      }
    }
    var passed: Set<Int> = []
    for file in files {
      try Ledger(file, for: .reading).visit(unmadeOnly: isUnmade) { entry in
        if files.count > 1 {
          let hash = entry.source.hashValue
          // A process that works may have renewed it meanwhile. Of two equally old ones, the first counts.
          guard entry.time >= latest[hash] ?? .min, passed.insert(hash).inserted else { return }
        }
        try body(entry)
      }
    }
  }

  /// The absolute path of an entry's source.
  public func source(of entry: LedgerEntry) -> Path {
    let path = start.appending(entry.source)
    return path.normalized ?? path
  }

  /// The absolute path of a thumbnail.
  public func thumbnail(_ place: Path) -> Path { start.appending(place) }
}
