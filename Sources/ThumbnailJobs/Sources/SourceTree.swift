import Files

/// The tree of a job's sources, which its thumbnails mirror below the output folder.
///
/// The tree begins at the deepest folder that contains all arguments. For one folder this is the folder itself, and for
/// one file the folder of the file. So files with the same name in different folders never want the same place. If an
/// argument is a list, the tree begins at the working folder, because the entries of the list are not known in advance;
/// a list of a split knows its tree.
struct SourceTree: Sendable {
  /// The folder where the tree begins: absolute and normalized; nil if ``SourceList/relativePath(of:)`` decides.
  let root: Path?

  init(of arguments: [SourceArgument]) {
    var root: Path?
    for argument in arguments {
      // URLs have trees of their own, below the names of their hosts.
      if case .url = argument { continue }
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
    case .url: return nil
    case .list(let list): return list.tree?.absolute
    case .path(let path):
      guard let absolute = path.absolute else { return nil }
      // A path that does not exist counts as a folder, so that a folder that is not mounted today moves no thumbnails.
      return FileStatus.isRegular(path, followingLinks: true) ? absolute.parent : absolute
    }
  }

  /// The path that the thumbnails of an entry of a list mirror; nil if the working folder no longer exists.
  func relativePath(ofEntry path: Path) -> Path? {
    if let root, let relative = path.absolute?.below(root) { return relative }
    return SourceList.relativePath(of: path)
  }

  /// The path from the beginning of the tree to an argument. It is empty for a folder where the tree begins.
  func relativePath(ofArgument path: Path) -> Path {
    if let root, let relative = path.absolute?.below(root) { return relative }
    return SourceList.relativePath(of: path) ?? path.lastName
  }
}
