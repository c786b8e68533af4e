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
}
