import Files

/// A place from which a job gets sources. A job has one or several.
public enum SourceArgument: Sendable, Hashable {
  /// A file, or a folder with everything below it. The walk determines which of them it is.
  case path(Path)
  /// A list of paths that is read during the walk.
  case list(SourceList)

  /// Whether it exists. An open descriptor does.
  var exists: Bool {
    switch self {
    case .path(let path): FileStatus.exists(path)
    case .list(let list): list.exists
    }
  }
}

extension SourceArgument: CustomStringConvertible {
  public var description: String {
    switch self {
    case .path(let path): path.printable
    case .list(let list): list.name.printable
    }
  }
}
