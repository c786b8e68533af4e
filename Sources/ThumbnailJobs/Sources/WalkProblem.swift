import Files
import SystemPackage

/// Something a walk could not look into; it went on with the rest.
public struct WalkProblem: Error, Sendable, Equatable, CustomStringConvertible {
  public enum Kind: Sendable, Equatable {
    /// An argument that leads nowhere.
    case missingArgument
    /// An entry of a list that leads nowhere.
    case missingEntry
    /// Gone between being listed and being looked at.
    case vanished
    /// A followed symbolic link that leads nowhere.
    case brokenLink
    /// A followed symbolic link to a folder that it lies in.
    case loop
    /// A folder or list that may not be read, or whose disk fails.
    case unreadable
    /// Folders nested deeper than `SourceWalker.maximumDepth`.
    case tooDeep
    /// The process may open no more files.
    case tooManyOpenFiles
    /// A path longer than the system opens.
    case pathTooLong
    /// A named source that is neither a file nor a folder, such as a FIFO.
    case notAFile
    /// A source folder that is the output folder itself.
    case isOutput
    /// A line of a list that cannot be a path.
    case badEntry
  }

  public let kind: Kind
  public let path: Path
  /// Which of the walk's arguments it came from, counted from 0.
  public let argument: Int
  /// The system's word for it, where the system refused.
  let reason: String

  init(_ kind: Kind, _ path: Path, argument: Int, reason: String = "") {
    self.kind = kind
    self.path = path
    self.argument = argument
    self.reason = reason
  }

  /// What `error` means when met at `path`.
  init(_ error: Errno, _ path: Path, argument: Int, origin: Source.Origin) {
    let kind: Kind =
      switch error {
      case .noSuchFileOrDirectory, .notDirectory:
        switch origin {
        case .argument: .missingArgument
        case .list: .missingEntry
        case .folder: .vanished
        }
      case .tooManyOpenFiles, .tooManyOpenFilesInSystem: .tooManyOpenFiles
      case .fileNameTooLong: .pathTooLong
      case .tooManySymbolicLinkLevels: .brokenLink
      default: .unreadable
      }
    self.init(kind, path, argument: argument, reason: error.description)
  }

  /// One line: what, where, the limit, the way out.
  public var description: String {
    let name = path.printable
    return switch kind {
    case .missingArgument: "\(name): no such file or folder"
    case .missingEntry: "\(name): no such file or folder, though the list names it"
    case .vanished: "\(name): gone before it was looked at"
    case .brokenLink: "\(name): a symbolic link that leads nowhere"
    case .loop: "\(name): a symbolic link back to a folder it lies in; not entered again"
    case .unreadable: "\(name): cannot be read: \(reason)"
    case .tooDeep:
      "\(name): more than \(SourceWalker.maximumDepth) folders deep; name it as a source of its own to have it walked"
    case .tooManyOpenFiles:
      "\(name): no more files may be open (\(reason)); raise the limit with ulimit -n or lower --max"
    case .pathTooLong:
      "\(name): longer than the \(SourceWalker.maximumPathLength) bytes a path may have; "
        + "start from a folder further down"
    case .notAFile: "\(name): \(reason), not a file or a folder"
    case .isOutput: "\(name): is the output folder itself, which is never walked; choose another with --out"
    case .badEntry: "\(name): \(reason)"
    }
  }
}
