import Files

/// Why a ledger cannot be used. The description is one line with the ledger's path.
package struct LedgerError: Error, Sendable, Equatable, CustomStringConvertible {
  package enum Kind: Sendable, Equatable {
    /// There is none.
    case missing
    /// A newer version of the program has written it.
    case newer
    /// The file is of another program.
    case foreign
    /// The file is damaged.
    case damaged
    /// Another process is using it.
    case busy
    /// It may only be read.
    case readOnly
    case diskFull
    /// The program is built without the trait Ledger.
    case notBuilt
    /// Another error, in SQLite's words.
    case failed(String)
  }

  package let kind: Kind
  package let file: Path

  package init(_ kind: Kind, _ file: Path) { (self.kind, self.file) = (kind, file) }

  package var description: String {
    let reason =
      switch kind {
      case .missing: "there is none; a run makes it"
      case .newer: "a newer version of thumbjob has written it"
      case .foreign: "it is no ledger of thumbjob; move it away, and the next run makes a new one"
      case .damaged: "it is damaged; remove it, and the next run makes a new one"
      case .busy: "another process is using it"
      case .readOnly: "it may not be written to"
      case .diskFull: "the disk is full"
      case .notBuilt: "this thumbjob is built without ledgers"
      case .failed(let text): text
      }
    return "\(file.printable): \(reason)"
  }
}
