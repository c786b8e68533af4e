import Files

/// Why a job removes no thumbnails: they might be of sources that are not gone.
public enum PruneRefusal: Sendable, Equatable, CustomStringConvertible {
  /// The run has not reached all its sources.
  case workRemains
  /// A source is missing, or a folder could not be read.
  case unreadable
  /// A source folder is empty.
  case emptySource(Path)
  /// The last run mirrored the tree below another folder, or had a list if the path is empty.
  case otherTree(Path)
  /// The output folder also has thumbnails of this source, which exists and is in none of the job's folders.
  case otherSource(Path)

  public var description: String {
    switch self {
    case .workRemains: "the run did not reach all sources"
    case .unreadable: "not all sources could be read"
    case .emptySource(let path): "\(path.printable) is empty; perhaps its file system is not mounted"
    case .otherTree(""): "the run before had a list of sources; run once more if this one has all sources"
    case .otherTree(let path):
      "the run before had the sources of \(path.printable); run once more if this one has all sources"
    case .otherSource(let path):
      "the output folder also has the thumbnails of other sources, such as \(path.printable); run with all of them together"
    }
  }
}
