import Foundation

extension Path {
  /// The working folder of the process, which never changes it; nil if it does not exist, or has no path. It is asked for
  /// once, so that all paths of a run start from the same folder.
  package static let workingFolder: Path? = {
    guard let folder = getcwd(nil, 0) else { return nil }
    defer { free(folder) }
    return Path(cString: folder)
  }()

  /// The absolute path without `..`, found from the text alone; nil if it is relative and there is no working folder.
  package var absolute: Path? {
    isAbsolute ? normalized : Self.workingFolder?.appending(self).normalized
  }

  /// The relative path that leads from a folder to this path, by the text alone: `../photos/a.jpg`. An absolute path is
  /// returned if there is no working folder, and so is a URL.
  ///
  /// - Parameter folder: absolute and normalized. Only if no part of it is a link does the path lead to the same file.
  package func leading(from folder: Path) -> Path {
    guard !isURL, let absolute else { return self }
    let common = absolute.commonFolder(with: folder)
    let up = Path(names: (folder.below(common)?.names ?? []).map { _ in Path("..") })
    return up.appending(absolute.below(common) ?? absolute)
  }

  /// The path that another one leads to from this folder, by the text alone: the reverse of ``leading(from:)``.
  package func following(_ path: Path) -> Path {
    let followed = appending(path)
    return followed.normalized ?? followed
  }

  /// The absolute path without links and `..`: realpath(3).
  package func real() throws(Errno) -> Path {
    guard let real = withCString({ realpath($0, nil) }) else { throw Errno(rawValue: errno) }
    defer { free(real) }
    return Path(cString: real)
  }
}
