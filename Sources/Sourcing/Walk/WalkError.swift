import Fetching
import Files

/// A file, folder or list that a walk could not read. The walk goes on with the rest.
package struct WalkError: Error, Sendable, Equatable, CustomStringConvertible {
  package enum Kind: Sendable, Equatable {
    /// A bucket that cannot be listed.
    case notListed(FetchError)
    /// An argument that does not exist.
    case missingArgument
    /// An entry of a list that does not exist.
    case missingEntry
    /// A file or folder that was removed after the walk had found its name.
    case vanished
    /// A symbolic link whose target does not exist, or that leads to itself, where links are followed.
    case brokenLink
    /// A symbolic link to a folder that contains it, where links are followed.
    case loop
    /// A folder or list without permission to read, or on a faulty disk.
    case unreadable
    /// A folder deeper than ``SourceWalker/maximumDepth``.
    case tooDeep
    /// The process or the system has as many open files as allowed.
    case tooManyOpenFiles
    /// A path longer than system calls accept.
    case pathTooLong
    /// An argument or entry that is neither a file nor a folder, such as a FIFO.
    case notAFile
    /// An entry of a list that cannot be a path.
    case badEntry
    /// An entry of a list that contains a zero byte: the separator of the list is probably the zero byte and not the
    /// newline.
    case nulInEntry
  }

  package let kind: Kind
  package let path: Path
  /// The index of its argument in the job.
  package let argument: Int
  /// The system's description of its error, or another detail; may be empty.
  package let reason: String

  package init(_ kind: Kind, _ path: Path, argument: Int, reason: String = "") {
    self.kind = kind
    self.path = path
    self.argument = argument
    self.reason = reason
  }

  /// Classifies a system error at `path`.
  package init(_ error: Errno, _ path: Path, argument: Int, origin: Source.Origin) {
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

  package init(_ error: SourceListError, argument: Int) {
    let (kind, reason): (Kind, String) =
      switch error.kind {
      case .cannotOpen(let error) where error == .noSuchFileOrDirectory || error == .notDirectory:
        (.missingArgument, error.description)
      case .cannotOpen(let error), .cannotRead(let error): (.unreadable, error.description)
      case .entryTooLong:
        (.badEntry, "begins an entry of more than the \(Path.maximumLength) bytes a path may have")
      case .entryWithNul: (.nulInEntry, "")
      }
    self.init(kind, error.path, argument: argument, reason: reason)
  }

  /// One line: the path, the fault and, if one was exceeded, the limit.
  package var description: String {
    let name = path.printable
    return switch kind {
    case .notListed(let error): "\(name): cannot be listed: \(error)"
    case .missingArgument where path.isURL: "\(name): no such object, and none whose key begins with it and a slash"
    case .missingArgument: "\(name): no such file or folder"
    case .missingEntry: "\(name): no such file or folder, although it is in the list"
    case .vanished: "\(name): disappeared during the walk"
    case .brokenLink: "\(name): a broken symbolic link"
    case .loop: "\(name): a symbolic link to a folder that contains it; not entered again"
    case .unreadable: "\(name): cannot be read: \(reason)"
    case .tooDeep:
      "\(name): more than \(SourceWalker.maximumDepth) folders deep; to walk it, name it as a source of its own"
    case .tooManyOpenFiles:
      "\(name): cannot be opened: \(reason)"
    case .pathTooLong:
      "\(name): longer than the \(Path.maximumLength) bytes a path may have; "
        + "start from a folder further down"
    case .notAFile: "\(name): \(reason), not a file or a folder"
    case .badEntry: "\(name): \(reason)"
    case .nulInEntry: "\(name): begins a line that contains a NUL character"
    }
  }
}
