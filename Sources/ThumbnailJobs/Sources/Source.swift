import Files

/// One file to make thumbnails of: where to open it, and where its thumbnails are mirrored.
public struct Source: Sendable, Hashable {
  /// How the file came to be a source.
  public enum Origin: Sendable, Hashable {
    /// Named on the command line or in a job file.
    case argument
    /// Met in a folder that was given.
    case folder
    /// Named in a list of paths.
    case list
  }

  /// What to open: absolute, or relative to the working folder, as its argument was.
  public let path: Path
  /// What is mirrored below the output folder: relative, without `.` and `..`, never empty.
  public let relativePath: Path
  /// Which of the walk's arguments it came from, counted from 0. The earlier argument keeps a contested output.
  public let argument: Int
  public let origin: Origin

  public init(path: Path, relativePath: Path, argument: Int, origin: Origin) {
    self.path = path
    self.relativePath = relativePath
    self.argument = argument
    self.origin = origin
  }
}

/// What sources are taken from, one per command-line argument or job-file entry.
public enum SourceArgument: Sendable, Hashable {
  /// A folder, walked with all below it, or a file; which of the two is found out when it is walked.
  case path(Path)
  /// A list of paths, read as the walk goes.
  case list(SourceList)

  /// What the word on the command line means: `-` is a list on standard input, a line each; anything else is a path.
  public init(_ word: Path) {
    self = word == "-" ? .list(SourceList(from: nil, separator: .newline)) : .path(word)
  }
}

extension SourceArgument: CustomStringConvertible {
  public var description: String {
    switch self {
    case .path(let path): path.printable
    case .list(let list): list.file.map(\.printable) ?? "standard input"
    }
  }
}
