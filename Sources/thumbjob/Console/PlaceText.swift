/// Names of files and folders in messages.
enum PlaceText {
  /// A path in a form that a reader recognises as a path: `thumbs` becomes `./thumbs`. An address stays as it is.
  static func text(_ path: String) -> String {
    path.hasPrefix("/") || path.hasPrefix(".") || path.contains("://") || path.hasPrefix("unix:") ? path : "./\(path)"
  }

  /// Several paths, of which the first few are named: `./a, ./b and 3 more`.
  static func text(_ paths: [String]) -> String {
    let named = paths.count <= 3 ? paths : Array(paths.prefix(2))
    let rest = paths.count - named.count
    return named.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
  }
}
