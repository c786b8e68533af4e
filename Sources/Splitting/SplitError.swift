import Files

/// A split could not write its lists.
package enum SplitError: Error, Sendable, Equatable, CustomStringConvertible {
  /// A source does not exist; the walk has reported it.
  case missingSource
  /// The folder for the lists cannot be made or used.
  case cannotCreate(Path, Errno)
  /// The folder for the lists has a file that no split has written.
  case isForeign(Path)
  /// Another split writes to the folder.
  case isBusy(Path)
  /// A list cannot be written.
  case cannotWrite(Path, Errno)
  /// The paths that were found cannot be read back.
  case cannotRead(Errno)

  /// One line: the path, the reason, and what to do.
  package var description: String {
    switch self {
    case .missingSource: "no lists written, because a source is missing"
    case .cannotCreate(let path, .fileExists): "\(path.printable): cannot be used for lists: a file is in the way"
    case .cannotCreate(let path, let error): "\(path.printable): cannot be used for lists: \(error.description)"
    case .isForeign(let path):
      "\(path.printable): not written by thumbjob split; the lists need a folder of their own"
    case .isBusy(let path): "\(path.printable): another thumbjob split is writing lists there"
    case .cannotWrite(let path, let error): "\(path.printable): cannot be written: \(error.description)"
    case .cannotRead(let error): "the list of sources cannot be read back: \(error.description)"
    }
  }
}
