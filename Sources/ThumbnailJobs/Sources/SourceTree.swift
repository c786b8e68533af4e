import Files

/// The tree of a job's sources, which its thumbnails mirror below the output folder.
///
/// The tree begins at the deepest folder that contains all arguments. For one folder this is the folder itself, and for
/// one file the folder of the file. So files with the same name in different folders never want the same place. If an
/// argument is a list, the tree begins at the working folder, because the entries of the list are not known in advance.
struct SourceTree: Sendable {
  /// The folder where the tree begins: absolute and normalized; nil if ``SourceList/relativePath(of:)`` decides.
  let root: Path?

  init(of arguments: [SourceArgument]) {
    var root: Path?
    for argument in arguments {
      guard case .path(let path) = argument, let absolute = path.absolute else {
        self.root = nil
        return
      }
      // A path that does not exist counts as a folder, so that a folder that is not mounted today moves no thumbnails.
      let folder = FileStatus.isRegular(path, followingLinks: true) ? absolute.parent : absolute
      root = root?.commonFolder(with: folder) ?? folder
    }
    self.root = root
  }

  /// The path from the beginning of the tree to an argument. It is empty for a folder where the tree begins.
  func relativePath(ofArgument path: Path) -> Path {
    if let root, let relative = path.absolute?.below(root) { return relative }
    return SourceList.relativePath(of: path) ?? path.lastName
  }
}
