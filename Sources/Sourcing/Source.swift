import Fetching
import Files

/// A photo to make thumbnails of: the path to open, and the path that its thumbnails mirror.
package struct Source: Sendable, Hashable {
  /// How the walk found the file.
  package enum Origin: Sendable, Hashable {
    /// The file is itself an argument of the job.
    case argument
    /// The walk of a folder found the file.
    case folder
    /// The file is an entry of a list of paths.
    case list
  }

  /// The path to open: absolute or relative to the working folder, as in the argument. For a source from the network, its
  /// address as people may read it.
  package let path: Path
  /// The path that thumbnails mirror below the output folder: relative, without `.` and `..`, never empty.
  package let relativePath: Path
  /// The index of its argument in the job. If two sources want the same place, the earlier argument gets it.
  package let argument: Int
  package let origin: Origin
  /// Where it is fetched from; nil if it is a file.
  package let address: RemoteAddress?
  /// What a listing of its bucket tells of it; nil if none has it.
  package var listed: Validators?
  /// Counts the sources of a walk from 0.
  package var number = 0
  /// Whether the walk has seen that no other file of its folder wants its place.
  package var isWithoutRivals = false
  /// Whether another source may want its place, which cannot be known beforehand. Its thumbnails then have a
  /// ``SourceKey``, so that the first of the two keeps the place.
  package var isContested = false

  /// What the names of its thumbnails tell besides its path.
  package var nameFacts = NameFacts()

  /// Whether it is a file.
  package var isLocal: Bool { address == nil }

  package init(path: Path, relativePath: Path, argument: Int, origin: Origin) {
    self.path = path
    self.relativePath = relativePath
    self.argument = argument
    self.origin = origin
    address = nil
  }

  /// A source from the network. Another may want its place, because servers may have any names.
  ///
  /// - Parameter tree: where the tree of the sources begins.
  package init(_ address: RemoteAddress, in tree: SourceTree, argument: Int, origin: Origin) {
    (path, relativePath) = (address.path, tree.relativePath(of: address))
    (self.argument, self.origin, self.address) = (argument, origin, address)
    isContested = true
  }
}
