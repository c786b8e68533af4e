import Files

/// Where a job gets sources from. A job has one or several.
public enum SourceArgument: Sendable, Hashable {
  /// A folder with everything below it, or a file. The walk finds out which.
  case path(Path)
  /// A list of paths that is read during the walk.
  case list(SourceList)
}

extension SourceArgument: CustomStringConvertible {
  public var description: String {
    switch self {
    case .path(let path): path.printable
    case .list(let list): list.name.printable
    }
  }
}
