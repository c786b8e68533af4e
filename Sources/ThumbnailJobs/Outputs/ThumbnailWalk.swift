import Files

/// Walks through the files of an output folder.
///
/// It follows no link, and leaves out the working folder, and each folder with a working folder of its own: another job
/// puts its thumbnails there.
enum ThumbnailWalk {
  /// Passes the files below a folder of an output. A folder may go while it is read; one that cannot be read is left out.
  ///
  /// - Parameters:
  ///   - folder: relative to the output folder; empty for the output folder itself.
  ///   - others: folders that are left out with all below them, relative to the output folder.
  ///   - stop: asked before each file and folder.
  ///   - body: receives each place, relative to the output folder.
  static func forEachFile(
    below folder: Path, in output: Path, except others: [Path] = [], stop: () -> Bool = { false },
    _ body: (Path) -> Void
  ) {
    if others.contains(where: { folder.below($0) != nil }) { return }
    guard let start = open(folder, in: output) else { return }
    var stack = [start]
    while let open = stack.last, !stop() {
      guard case .success(let entry?) = open.next() else {
        stack.removeLast()
        continue
      }
      let place = open.relativePath.appending(entry.name)
      var kind = entry.kind
      if kind == nil { kind = try? open.status(of: entry.name, followingLinks: false).get().kind }
      if kind == .regular { body(place) }
      if kind == .folder, entry.name != SourceWalker.workingFolderName, !others.contains(place),
        stack.count < SourceWalker.maximumDepth + 2, let inner = enter(entry.name, in: open)
      {
        stack.append(inner)
      }
    }
  }

  private static func open(_ folder: Path, in output: Path) -> OpenFolder? {
    guard case .success(var open) = OpenFolder.open(output) else { return nil }
    for name in folder.names {
      guard let inner = enter(name, in: open) else { return nil }
      open = inner
    }
    return open
  }

  /// Opens a folder in another one, unless it is the output folder of another job.
  private static func enter(_ name: Path, in folder: OpenFolder) -> OpenFolder? {
    guard case .success(let inner) = folder.openFolder(name, followingLinks: false),
      case .failure(.noSuchFileOrDirectory) = inner.status(of: SourceWalker.workingFolderName, followingLinks: false)
    else { return nil }
    return inner
  }
}
