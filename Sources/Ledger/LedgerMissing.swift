#if !Ledger
import Files

// A build without the trait Ledger remembers nothing between runs.

/// Never opens.
package final class Ledger: Sendable {
  package enum Access: Sendable { case reading, writing }

  package let file: Path
  package let isNew = true
  package let mayHaveUnmade = false
  package var problem: LedgerError? { LedgerError(.notBuilt, file) }

  package init(_ file: Path, for access: Access, isDurable: Bool = false) { self.file = file }

  package func lookAgain() {}
  package func open() throws(LedgerError) { throw LedgerError(.notBuilt, file) }
  package func unmade(_ source: Path) -> LedgerEntry? { nil }
  package func entry(of source: Path) -> LedgerEntry? { nil }
  package func hasEntries(below folder: Path) -> Bool { false }
  package func countMade(below folder: Path) -> Int? { nil }
  package func entries(like version: LedgerEntry.Version) -> [LedgerEntry] { [] }
  package func sources(withKey key: UInt64) -> [Path] { [] }
  package func disks() throws(LedgerError) -> [Path: String] { throw LedgerError(.notBuilt, file) }
  package func record(disk identity: String, at path: Path) {}
  package func forgetDisk(at path: Path) {}
  package func record(_ entry: LedgerEntry) {}
  package func forget(_ source: Path) {}
  package func write(isLast: Bool = false) {}

  package func visit(
    unmadeOnly isUnmade: Bool = false, below folder: Path? = nil, _ body: (LedgerEntry) throws -> Void
  ) throws {
    throw LedgerError(.notBuilt, file)
  }
}

/// Never opens.
package final class EntryTable: Sendable {
  package init(_ file: Path) throws(LedgerError) { throw LedgerError(.notBuilt, file) }

  package func store(_ text: [UInt8], at key: [UInt8]) {}
  package func remove(_ key: [UInt8]) {}
  package func remove(beginningWith prefix: [UInt8]) {}
  package func visit(_ body: ([UInt8]) throws -> Void) throws {}
}
#endif
