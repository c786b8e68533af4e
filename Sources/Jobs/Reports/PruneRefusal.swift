import Files
import JobSettings
import Ledger

/// Why a job removes no thumbnails, or none of the photos of a source folder: they might be of sources that are not gone.
package enum PruneRefusal: Sendable, Equatable, CustomStringConvertible {
  /// The run has not reached all its sources.
  case workRemains
  /// A source is missing, or a folder could not be read.
  case unreadable
  /// A source folder has no file.
  case emptySource(Path)
  /// By its text, the path leads to another folder.
  case unclearPath(Path)
  /// Without the ledger it is not known which sources there were.
  case noLedger(LedgerError)
  /// Of so many photos of a source folder that the ledger knows, none was found.
  case noneFound(Path, known: Int)
  /// A source folder is another one than in earlier runs, or on another disk.
  case otherFolder(Path)
  /// More than half of the photos of a source folder are gone.
  case mostGone(Path, gone: Int, known: Int)

  package var description: String {
    switch self {
    case .workRemains: "the run did not reach all sources"
    case .unreadable: "not all sources could be read"
    case .emptySource(let path): "\(path.printable) is empty; perhaps its file system is not mounted"
    case .unclearPath(let path): "\(path.printable) has “..” behind a link; give the path without"
    case .noLedger(let error): "ledger \(error)"
    case .noneFound(let path, let known):
      "none of the \(known) photos that the ledger has of \(path.printable) was found; perhaps its file system is not mounted"
    case .otherFolder(let path): "\(path.printable) is another folder or disk than in earlier runs"
    case .mostGone(let path, let gone, let known): "\(gone) of \(known) photos of \(path.printable) are gone"
    }
  }

  /// What would make the job remove them all the same; nil if nothing does.
  package var wayOn: PruneMode? {
    switch self {
    case .workRemains, .unreadable, .unclearPath, .noLedger: nil
    case .emptySource, .noneFound, .otherFolder: .force
    case .mostGone: .all
    }
  }
}
