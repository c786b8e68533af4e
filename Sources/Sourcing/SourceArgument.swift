import Fetching
import Files

/// A place from which a job gets sources. A job has one or several.
package enum SourceArgument: Sendable, Hashable {
  /// A file, or a folder with everything below it. The walk determines which of them it is.
  case path(Path)
  /// A list of paths that is read during the walk.
  case list(SourceList)
  /// A file on the network, or a part of a bucket.
  case address(RemoteAddress)

  /// The meaning of a path that a user gives: a URL, or else a file or folder.
  ///
  /// - Throws: `RemoteURLError` if it is a URL that cannot be fetched.
  package init(_ path: Path) throws(RemoteURLError) {
    self = path.isURL ? .address(try RemoteAddress(parsing: path.bytes)) : .path(path)
  }

  /// Whether it exists. An open descriptor does, and an address as far as known.
  package var exists: Bool {
    switch self {
    case .address: true
    case .path(let path): FileStatus.exists(path)
    case .list(let list): list.exists
    }
  }
}

extension SourceArgument: CustomStringConvertible {
  package var description: String {
    switch self {
    case .address(let address): "\(address)"
    case .path(let path): path.printable
    case .list(let list): list.name.printable
    }
  }
}
