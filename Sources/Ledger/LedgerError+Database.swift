#if Ledger
import Files
import GRDB

extension LedgerError {
  init(_ error: any Error, _ file: Path) { self.init((error as? DatabaseError)?.kind ?? .failed("\(error)"), file) }
}

extension DatabaseError {
  fileprivate var kind: LedgerError.Kind {
    switch resultCode {
    case .SQLITE_NOTADB: .foreign
    case .SQLITE_CORRUPT: .damaged
    case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL: .busy
    case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH: .readOnly
    case .SQLITE_FULL: .diskFull
    default: .failed(message ?? "\(resultCode)")
    }
  }
}
#endif
