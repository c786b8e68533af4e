import Files
import Foundation
import Ledger

/// The sources in all ledgers of an output folder, for those who may change these.
struct RememberedSources {
  /// A source and the ledger that has it.
  struct Remembered {
    /// Absolute.
    let path: Path
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

  /// Passes each source to `body`, in the order of each ledger.
  ///
  /// - Parameter body: false ends the loop.
  /// - Throws: ``LedgerError`` if a ledger cannot be read or written.
  func visit(_ body: (Remembered) -> Bool) throws(LedgerError) {
    for ledger in ledgers {
      do {
        try ledger.visit { entry in
          let path = start.following(entry.source)
          if !body(Remembered(path: path, key: entry.source, ledger: ledger)) { throw StopError() }
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
