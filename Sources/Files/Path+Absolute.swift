import Foundation

extension Path {
  /// The absolute path without `..`, found from the text alone; nil if the working folder no longer exists.
  package var absolute: Path? {
    if isAbsolute { return normalized }
    guard let folder = getcwd(nil, 0) else { return nil }
    defer { free(folder) }
    return Path(cString: folder).appending(self).normalized
  }
}
