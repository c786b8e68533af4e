import Files
import Ledger

/// Why a job removes no thumbnails: they might be of sources that are not gone.
public enum PruneRefusal: Sendable, Equatable, CustomStringConvertible {
  /// The run has not reached all its sources.
  case workRemains
  /// A source is missing, or a folder could not be read.
  case unreadable
  /// A source folder has no file.
  case emptySource(Path)
  /// By its text, the path leads to another folder.
  case unclearPath(Path)
  /// The last run mirrored the tree below another folder, or had a list if the path is empty.
  case otherTree(Path)
  /// Without the ledger it is not known which sources there were.
  case noLedger(LedgerError)
  /// The output folder also has thumbnails of this source, which exists and is in none of the job's folders.
  case otherSource(Path)

  public var description: String {
    switch self {
    case .workRemains: "the run did not reach all sources"
    case .unreadable: "not all sources could be read"
    case .emptySource(let path): "\(path.printable) is empty; perhaps its file system is not mounted"
    case .unclearPath(let path): "\(path.printable) has “..” behind a link; give the path without"
    case .otherTree(""): "the last run had a list of sources; if the sources are right now, run again"
    case .otherTree(let path): "the last run mirrored \(path.printable); if the sources are right now, run again"
    case .noLedger(let error): "ledger \(error)"
    case .otherSource(let path):
      "the output folder also has the thumbnails of other sources, such as \(path.printable); run with all of them together"
    }
  }
}
