import Files
import Foundation
import Ledger
import Places

/// The sources in all ledgers of an output folder, for those who may change these.
struct LedgerSources {
  /// A source and the ledger that has it.
  struct Remembered {
    /// Absolute.
    let path: Path
    /// The version of the file; nil if it was not opened.
    let version: LedgerEntry.Version?
    /// How many thumbnails it has.
    let count: Int
    /// The place of one of its thumbnails; nil if that is not known.
    let first: Path?
    fileprivate let key: Path
    fileprivate let ledger: Ledger

    /// Removes the source from the ledger, once that is written.
    func forget() { ledger.forget(key) }
  }

  private let ledgers: [Ledger]
  /// The absolute output folder.
  private let start: Path

  /// - Throws: ``LedgerError``: of kind `missing` if there is none.
  init(in output: Path) throws(LedgerError) {
    ledgers = try LedgerSet.files(in: output).map { Ledger($0, for: .writing) }
    start = output.absolute ?? output
  }

  /// What identifies the disks that were at folders, by absolute path: several if the ledgers differ.
  ///
  /// - Throws: ``LedgerError`` if a ledger cannot be read.
  func disks() throws(LedgerError) -> [Path: Set<String>] {
    var found: [Path: Set<String>] = [:]
    for ledger in ledgers {
      for (path, disk) in try ledger.disks() { found[start.following(path), default: []].insert(disk) }
    }
    return found
  }

  /// Remembers what is now at the folders of which a ledger has the disk. A disk that is not mounted is forgotten, so that the
  /// next one that is mounted there is remembered.
  ///
  /// - Throws: ``LedgerError`` if a ledger cannot be read.
  func replaceDisks(below folder: Path) throws(LedgerError) {
    for ledger in ledgers {
      for (path, known) in try ledger.disks() {
        let place = start.following(path)
        guard place.below(folder) != nil, let now = DiskIdentity(at: place), now.text != known else { continue }
        if now.isFileSystem(of: known) || MountPoints.isMountPoint(place) {
          ledger.record(disk: now.text, at: path)
        } else {
          ledger.forgetDisk(at: path)
        }
      }
    }
  }

  /// Passes each source to `body`, in the order of each ledger.
  ///
  /// - Parameters:
  ///   - folder: only the sources below it, an absolute path; nil for all.
  ///   - body: false ends the loop.
  /// - Throws: ``LedgerError`` if a ledger cannot be read or written.
  func visit(below folder: Path? = nil, _ body: (Remembered) -> Bool) throws(LedgerError) {
    let key = folder?.leading(from: start)
    for ledger in ledgers {
      do {
        try ledger.visit(below: key) { entry in
          let path = start.following(entry.source)
          // Paths that begin with `..` lead out of the folder again.
          if let folder, path.below(folder) == nil { return }
          var (count, first) = (0, nil as Path?)
          if case .made(let made, let place) = entry.outcome { (count, first) = (made, place) }
          let source = Remembered(
            path: path, version: entry.version, count: count, first: first, key: entry.source, ledger: ledger)
          if !body(source) { throw StopError() }
        }
      } catch let error as LedgerError {
        throw error
      } catch {
        return ledger.write()
      }
      ledger.write()
      if let problem = ledger.problem { throw problem }
    }
  }

  /// Ends the visit of a ledger.
  private struct StopError: Error {}
}
