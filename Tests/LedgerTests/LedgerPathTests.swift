import Files
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Ledger

/// Ledgers at paths that GRDB or SQLite cannot take.
@Suite(.timeLimit(.minutes(5))) struct LedgerPathTests {
  private let place = TemporaryFolder()

  /// A folder below the temporary one.
  enum Folder: CaseIterable {
    case noUTF8
    /// Its path has more than 512 bytes.
    case long
    case longAndNoUTF8

    /// From the outside in.
    var names: [[UInt8]] {
      let long = Array(repeating: Array(repeating: UInt8(ascii: "d"), count: 150), count: 4)
      return switch self {
      case .noUTF8: [[0x6F, 0xFF, 0xFE]]
      case .long: long
      case .longAndNoUTF8: long + [[0xFF]]
      }
    }
  }

  /// Makes a folder and those above it.
  private func make(_ folder: Folder) throws -> Path {
    var path = Path(place.path)
    for name in folder.names {
      path = path.appending(try #require(Path(bytes: name)))
      #expect(path.withCString { mkdir($0, 0o700) } == 0)
    }
    return path
  }

  private func entry(_ number: Int, time: Int) -> LedgerEntry {
    LedgerEntry(
      Path("\(number).jpg"), version: .init(bytes: 1, modified: 2), outcome: .failed(kind: "source", reason: "cut"),
      settings: "s", program: "1", time: time)
  }

  @Test(arguments: Folder.allCases) func aLedgerMayHaveAnyPath(folder: Folder) throws {
    let file = try make(folder).appending(Ledger.name())
    let ledgers = [Ledger(file, for: .writing), Ledger(file, for: .writing)]
    for (number, ledger) in ledgers.enumerated() {
      ledger.record(entry(number, time: 1000))
      ledger.write()
      #expect(ledger.problem == nil)
    }
    var found: [Path] = []
    try Ledger(file, for: .reading).visit { found.append($0.source) }
    #expect(found == ["0.jpg", "1.jpg"])
    #expect(FileStatus.exists(file) && !FileStatus.exists(file.parent.appending("ledger-journal")))
  }

  /// The file and its journal as a process leaves them that is killed within a transaction.
  @Test(arguments: Folder.allCases) func anInterruptedTransactionIsTakenBack(folder: Folder) throws {
    let (file, simple) = (try make(folder).appending(Ledger.name()), Path(place("ledger")))
    let ledger = Ledger(simple, for: .writing)
    for number in 0..<500 { ledger.record(entry(number, time: 1000)) }
    ledger.write()
    let database = try DatabaseQueue(path: place("ledger"))
    try database.inDatabase { db in
      try db.execute(sql: "PRAGMA cache_size = 1; BEGIN; UPDATE source SET time = 2000, program = '2'")
      for name in [Path("ledger"), "ledger-journal"] {
        let bytes = try #require(readFile(Path(place("\(name)")), limit: .max))
        let copy = try createFile(file.parent.appending(name), in: AT_FDCWD, flags: O_WRONLY)
        try writeAll(bytes, to: copy)
        close(copy)
      }
      try db.execute(sql: "ROLLBACK")
    }
    var times: Set<Int> = []
    try Ledger(file, for: .reading).visit { times.insert($0.time) }
    #expect(times == [1000] && !FileStatus.exists(file.parent.appending("ledger-journal")))
  }
}
