import Files

/// A change in a watched folder.
package enum FolderChange: Sendable, Equatable {
  /// A file was closed after writing, moved here, or got a further name here. A file that is being written is not reported.
  case file(Path)
  /// A folder was made or moved here. It is not watched yet.
  case folder(Path)
  /// A file or a folder was removed or moved away. What was below such a folder is watched no more.
  case gone(Path, isFolder: Bool)
  /// A file system was unmounted. What was on it is watched no more.
  case unmounted
  /// There were more changes than the kernel keeps, and some are lost.
  case overflow
}
