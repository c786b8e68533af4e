import Fetching
import Files

/// The tree of a job's sources, which its thumbnails mirror below the output folder.
///
/// The tree begins at the deepest folder that contains all arguments. For one folder this is the folder itself, and for
/// one file the folder of the file. So files with the same name in different folders never want the same place. If an
/// argument is a list, the tree begins at the working folder, because the entries of the list are not known in advance;
/// a list of a split knows its tree.
package struct SourceTree: Sendable {
  /// The folder where the tree begins: absolute and normalized; nil if ``SourceList/relativePath(of:)`` decides.
  package let root: Path?
  /// The part of a bucket where the tree begins, if all arguments are in one bucket.
  private let bucket: StoreLocation?

  init(of arguments: [SourceArgument]) {
    bucket = Self.commonPart(arguments)
    var root: Path?
    for argument in arguments {
      // URLs have trees of their own, below the names of their hosts.
      if case .address = argument { continue }
      guard let folder = Self.folder(of: argument) else {
        self.root = nil
        return
      }
      root = root?.commonFolder(with: folder) ?? folder
    }
    self.root = root
  }

  /// The folder where the tree of one argument begins.
  private static func folder(of argument: SourceArgument) -> Path? {
    switch argument {
    case .address: return nil
    case .list(let list): return list.tree?.absolute
    case .path(let path):
      guard let absolute = path.absolute else { return nil }
      // A path that does not exist counts as a folder, so that a folder that is not mounted today moves no thumbnails.
      return FileStatus.isRegular(path, followingLinks: true) ? absolute.parent : absolute
    }
  }

  /// The deepest part of a bucket that contains all arguments; nil if there is none.
  private static func commonPart(_ arguments: [SourceArgument]) -> StoreLocation? {
    var parts: Set<StoreLocation> = []
    for argument in arguments {
      guard case .address(.store(let location)) = argument else { return nil }
      parts.insert(location.asFolder)
    }
    guard let first = parts.first, parts.allSatisfy({ $0.host == first.host }) else { return nil }
    // Whether the key of a single argument is that of an object, only the service knows.
    return parts.count == 1 ? first : parts.dropFirst().reduce(first.folder) { $0.commonFolder(with: $1.folder) }
  }

  /// The path that the thumbnails of a source from the network mirror. URLs and objects have trees of their own, below the
  /// names of hosts and buckets, unless all arguments are in one bucket.
  package func relativePath(of address: RemoteAddress) -> Path {
    switch address {
    case .url(let url): return url.mirrored
    case .store(let location):
      guard let bucket else { return location.mirrored(below: nil) }
      return location.mirrored(
        below: location.key.starts(with: bucket.key) ? bucket.key.count : location.folder.key.count)
    }
  }

  /// The path that the thumbnails of an entry of a list mirror; nil if the working folder no longer exists.
  package func relativePath(ofEntry path: Path) -> Path? {
    if let root, let relative = path.absolute?.below(root) { return relative }
    return SourceList.relativePath(of: path)
  }

  /// The path from the beginning of the tree to an argument. It is empty for a folder where the tree begins.
  package func relativePath(ofArgument path: Path) -> Path {
    if let root, let relative = path.absolute?.below(root) { return relative }
    return SourceList.relativePath(of: path) ?? path.lastName
  }
}
