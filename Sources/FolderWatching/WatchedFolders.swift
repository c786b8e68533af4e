import Files

/// The watches of folders: which number the kernel has given to each path, and which paths each number stands for. It is
/// several paths if links lead to one folder.
///
/// *Complexity*: every member takes time for the folders it is about, not for all. A folder that is removed with 20,000
/// others would otherwise take as long as all of them.
struct WatchedFolders {
  private var paths: [CInt: [Path]] = [:]
  private var numbers: [Path: CInt] = [:]
  /// The paths in each folder that are watched, or have watched ones below. Without those that have nothing below them.
  private var entries: [Path: Set<Path>] = [:]

  /// The number of watches.
  var count: Int { paths.count }

  /// The watch of a path; nil if it has none.
  subscript(_ path: Path) -> CInt? { numbers[path] }

  /// The paths of a watch.
  func paths(of number: CInt) -> [Path] { paths[number] ?? [] }

  /// Adds a path that has no watch.
  mutating func insert(_ path: Path, _ number: CInt) {
    numbers[path] = number
    paths[number, default: []].append(path)
    // Up to the first folder that has something below it already, because those above have, too.
    var path = path
    while path.parent != path {
      let parent = path.parent
      let isKnown = entries[parent] != nil
      entries[parent, default: []].insert(path)
      if isKnown { return }
      path = parent
    }
  }

  /// Removes a path.
  ///
  /// - Returns: its watch if no other path has that; nil otherwise.
  mutating func remove(_ path: Path) -> CInt? {
    guard let number = numbers.removeValue(forKey: path) else { return nil }
    removeEmpty(path)
    paths[number]?.removeAll { $0 == path }
    guard paths[number]?.isEmpty == true else { return nil }
    paths[number] = nil
    return number
  }

  /// Removes a watch with all its paths.
  mutating func remove(number: CInt) {
    for path in paths.removeValue(forKey: number) ?? [] {
      numbers[path] = nil
      removeEmpty(path)
    }
  }

  /// The watched paths in a folder and below, with that of the folder.
  func paths(below folder: Path) -> [Path] {
    var (found, rest) = ([Path](), [folder])
    while let path = rest.popLast() {
      if numbers[path] != nil { found.append(path) }
      if let below = entries[path] { rest += below }
    }
    return found
  }

  /// Forgets paths that have neither a watch nor anything below them: this one, and those above.
  private mutating func removeEmpty(_ path: Path) {
    var path = path
    while numbers[path] == nil, entries[path] == nil, path.parent != path {
      entries[path.parent]?.remove(path)
      if entries[path.parent]?.isEmpty == true { entries[path.parent] = nil }
      path = path.parent
    }
  }
}
