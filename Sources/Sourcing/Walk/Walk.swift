import Fetching
import Files
import Foundation

/// The state of one walk: its open folders and its counters. `Walk+Buckets` has the walk over buckets.
final class Walk {
  /// Unwinds the walk after `visit` or `shouldStop` has ended it.
  package struct StopError: Error {}

  package let walker: SourceWalker
  private let meanwhile: () -> Void
  private let isOver: () -> Bool
  /// Receives each folder before it is read.
  private let onFolder: (OpenFolder, Int) -> Void
  private let onError: (WalkError) -> Void
  private let visit: (Source) throws -> SourceWalker.Verdict
  private var outputs: FolderSet { walker.outputs }
  /// The folder of the last file outside a walked folder, and whether it is in an output folder: lists have many files
  /// of one folder in a row.
  private var lastParent: (path: Path, isInOutput: Bool)?
  private var walkedArguments: Set<FileIdentity> = []
  /// The folders in buckets that were walked. An argument that is in one is not walked again.
  var walkedFolders: [StoreLocation] = []
  /// The objects that are arguments themselves.
  var visitedObjects: Set<StoreLocation> = []
  package var counters = WalkCounters()

  init(
    _ walker: SourceWalker, meanwhile: @escaping () -> Void, shouldStop: @escaping () -> Bool,
    onFolder: @escaping (OpenFolder, Int) -> Void, onError: @escaping (WalkError) -> Void,
    visit: @escaping (Source) throws -> SourceWalker.Verdict
  ) {
    self.walker = walker
    self.meanwhile = meanwhile
    isOver = shouldStop
    self.onFolder = onFolder
    self.onError = onError
    self.visit = visit
  }

  package func run(_ scope: SourceWalker.Scope) throws {
    switch scope {
    case .all: for index in walker.arguments.indices { try walkArgument(index) }
    case .argument(let index): try walkArgument(index)
    case .folder(let path, let index): try walkPart(path, index)
    }
  }

  private func walkArgument(_ index: Int) throws {
    switch walker.arguments[index] {
    case .path(let path): try walkArgument(path, index)
    case .list(let list): try walkList(list, index)
    case .address(.store(let location)): try walkBucket(location, index)
    case .address(let address):
      try checkStop()
      try visitFile(Source(address, in: walker.tree, argument: index, origin: .argument))
    }
  }

  /// Visits an address in a list. The key of an object that ends with a slash is that of a folder.
  private func visitAddress(_ path: Path, _ index: Int) throws {
    let address: RemoteAddress
    do throws(RemoteURLError) {
      address = try RemoteAddress(parsing: path.bytes)
    } catch {
      return report(WalkError(.badEntry, Path(error.url), argument: index, reason: error.reason))
    }
    guard walker.lister != nil else {
      return report(WalkError(.badEntry, address.path, argument: index, reason: "only files are read here"))
    }
    if case .store(let location) = address {
      if location.isFolder { return try walkBucket(location, index) }
      if isInOutput(location) { return passOver(path) }
    }
    let source = Source(address, in: walker.tree, argument: index, origin: .list)
    counters.entries += 1
    guard walker.filter.accepts(file: source.relativePath, noting: &counters.matches) else {
      counters.filtered += 1
      return
    }
    try visitFile(source)
  }

  /// Walks a folder of an argument, if a walk of the whole argument comes there.
  private func walkPart(_ path: Path, _ index: Int) throws {
    guard case .path(let top) = walker.arguments[index], let relative = path.below(top) else { return }
    if relative.isEmpty { return try walkArgument(top, index) }
    try checkStop()
    guard walker.reaches(.folder, at: relative, below: top), !leadsBack(path, to: top) else { return }
    try walkFolder(
      path, mirroredAs: walker.tree.relativePath(ofArgument: top), relativePath: relative, argument: index,
      origin: .folder)
  }

  /// Whether a folder is one of those above it, through a link.
  private func leadsBack(_ path: Path, to top: Path) -> Bool {
    guard walker.followsLinks, let identity = FileIdentity(of: path) else { return false }
    var above = path
    repeat {
      above = above.parent
      if FileIdentity(of: above) == identity { return true }
    } while above != top && !above.isEmpty
    return false
  }

  private func walkArgument(_ path: Path, _ index: Int) throws {
    try checkStop()
    let status: stat
    switch FileStatus.of(path, followingLinks: true) {
    case .success(let found): status = found
    case .failure where outputs.encloses(path): return passOver(path)
    case .failure(let error): return report(WalkError(error, path, argument: index, origin: .argument))
    }
    switch status.kind {
    case .regular where isInOutput(path): passOver(path)
    case .regular:
      var relative = walker.tree.relativePath(ofArgument: path)
      if relative.isEmpty { relative = path.lastName }  // it was no file when the tree was determined
      try visitFile(Source(path: path, relativePath: relative, argument: index, origin: .argument))
    case .folder:
      if outputs.encloses(path) { return passOver(path) }
      // A folder that is an argument twice is walked once.
      guard walkedArguments.insert(FileIdentity(status)).inserted else { return }
      let mirrored = walker.tree.relativePath(ofArgument: path)
      try walkFolder(path, mirroredAs: mirrored, relativePath: Path(), argument: index, origin: .argument)
    case .link, .special:
      report(WalkError(.notAFile, path, argument: index, reason: status.specialName))
    }
  }

  private func walkList(_ list: SourceList, _ index: Int) throws {
    try list.forEachEntry(shouldStop: shouldStop) { entry in
      try checkStop()
      let path: Path
      switch entry {
      case .success(let found): path = found
      case .failure(let error): return report(WalkError(error, argument: index))
      }
      if path.isURL { return try visitAddress(path, index) }
      guard let relative = walker.tree.relativePath(ofEntry: path) else {
        return report(WalkError(.badEntry, path, argument: index, reason: "no place below the output folder"))
      }
      switch FileStatus.of(path, followingLinks: true) {
      case .failure where outputs.encloses(path): passOver(path)
      // One share reports it.
      case .failure where walker.shard?.contains(relative) == false: counters.inOtherShards += 1
      case .failure(let error): report(WalkError(error, path, argument: index, origin: .list))
      case .success(let status):
        counters.entries += 1
        switch status.kind {
        case .regular where relative.isEmpty || !walker.filter.accepts(file: relative, noting: &counters.matches):
          counters.filtered += 1
        case .regular where isInOutput(path): passOver(path)
        case .regular:
          try visitFile(Source(path: path, relativePath: relative, argument: index, origin: .list))
        case .folder:
          if outputs.encloses(path) {
            passOver(path)
          } else {
            try walkFolder(path, mirroredAs: Path(), relativePath: relative, argument: index, origin: .list)
          }
        case .link, .special: report(WalkError(.notAFile, path, argument: index, reason: status.specialName))
        }
      }
    }
  }

  /// Counts an argument or an entry of a list that is in an output folder.
  package func passOver(_ path: Path) {
    if counters.inOutput == 0 { counters.firstInOutput = path }
    counters.inOutput += 1
  }

  /// Whether a file is in an output folder.
  private func isInOutput(_ path: Path) -> Bool {
    let parent = path.parent
    if let lastParent, lastParent.path == parent { return lastParent.isInOutput }
    let isInOutput = outputs.encloses(path)
    lastParent = (parent, isInOutput)
    return isInOutput
  }

  /// Walks `top` and everything below it. The open folders are on a stack of their own, because deep nesting would
  /// exhaust the call stack.
  ///
  /// - Parameters:
  ///   - mirrored: the path that is put before the relative paths of the sources.
  ///   - relativePath: the relative path of `top` for the filter.
  private func walkFolder(
    _ top: Path, mirroredAs mirrored: Path, relativePath: Path, argument: Int, origin: Source.Origin
  ) throws {
    var stack: [FolderEntries] = []
    switch OpenFolder.open(top, relativePath: relativePath) {
    case .success(let folder):
      onFolder(folder, argument)
      stack.append(entries(of: folder, below: stack))
    case .failure(let error): return report(WalkError(error, top, argument: argument, origin: origin))
    }
    counters.folders += 1
    while let entries = stack.last {
      let folder = entries.folder
      switch entries.next() {
      case .success(nil): stack.removeLast()
      case .failure(let error):
        report(WalkError(error, folder.path, argument: argument, origin: .folder))
        stack.removeLast()
      case .success(let entry?):
        try checkStop()
        if let inner = try handle(entry, in: entries, mirroredAs: mirrored, ancestors: stack, argument: argument) {
          onFolder(inner, argument)
          stack.append(self.entries(of: inner, below: stack))
        }
      }
    }
  }

  private func entries(of folder: OpenFolder, below ancestors: [FolderEntries]) -> FolderEntries {
    FolderEntries(
      of: folder, isSorted: walker.isSorted, ahead: ancestors.reduce(0) { $0 + $1.aheadCount },
      hides: walker.filter.hides)
  }

  /// Visits a file, or opens a folder to walk next.
  private func handle(
    _ entry: OpenFolder.Entry, in entries: FolderEntries, mirroredAs mirrored: Path, ancestors: [FolderEntries],
    argument: Int
  ) throws -> OpenFolder? {
    let folder = entries.folder
    if entry.name == SourceWalker.workingFolderName { return nil }
    let path = folder.path.appending(entry.name)
    let relative = folder.relativePath.appending(entry.name)
    if walker.filter.hides(entry.name) {
      counters.hidden += 1
      // A pattern that excludes hidden files has matched them, although they are passed over without it.
      _ = walker.filter.entersFolder(relative, noting: &counters.matches)
      return nil
    }
    var kind = entry.kind
    if kind == nil || (kind == .link && walker.followsLinks) {
      switch folder.status(of: entry.name, followingLinks: walker.followsLinks) {
      case .success(let status): kind = status.kind
      case .failure(.noSuchFileOrDirectory) where entry.kind == .link:
        report(WalkError(.brokenLink, path, argument: argument))
        return nil
      case .failure(let error):
        report(WalkError(error, path, argument: argument, origin: .folder))
        return nil
      }
    }
    switch kind {
    case .regular?:
      guard walker.filter.accepts(file: relative, noting: &counters.matches) else {
        counters.filtered += 1
        return nil
      }
      guard path.length <= Path.maximumLength else {
        report(WalkError(.pathTooLong, path, argument: argument))
        return nil
      }
      var source = Source(
        path: path, relativePath: mirrored.appending(relative), argument: argument, origin: .folder)
      source.isWithoutRivals = entries.hasOnlyJPEGNames
      try visitFile(source)
    case .folder?:
      guard walker.filter.entersFolder(relative, noting: &counters.matches) else { return nil }
      return enter(entry, of: folder, ancestors: ancestors, argument: argument)
    case .link?: counters.linksNotFollowed += 1
    case .special?, nil: counters.special += 1
    }
    return nil
  }

  private func enter(
    _ entry: OpenFolder.Entry, of folder: OpenFolder, ancestors: [FolderEntries], argument: Int
  ) -> OpenFolder? {
    let path = folder.path.appending(entry.name)
    guard ancestors.count < SourceWalker.maximumDepth else {
      report(WalkError(.tooDeep, path, argument: argument))
      return nil
    }
    switch folder.openFolder(entry.name, followingLinks: walker.followsLinks) {
    case .failure(let error):
      report(WalkError(error, path, argument: argument, origin: .folder))
      return nil
    case .success(let inner):
      if outputs.contains(inner.identity) || entry.kind == .link && outputs.encloses(path) { return nil }
      if ancestors.contains(where: { $0.folder.identity == inner.identity }) {
        report(WalkError(.loop, path, argument: argument))
        return nil
      }
      counters.folders += 1
      return inner
    }
  }

  func visitFile(_ source: Source) throws {
    if walker.shard?.contains(source.relativePath) == false {
      counters.inOtherShards += 1
      return
    }
    counters.files += 1
    if try visit(source) == .stop { throw StopError() }
  }

  package func report(_ error: WalkError) {
    counters.errors += 1
    onError(error)
  }

  /// Lets the caller do what is due, and asks whether to stop. Called before every entry, and some times a second while
  /// the walk waits for one.
  package func shouldStop() -> Bool {
    meanwhile()
    return isOver()
  }

  func checkStop() throws {
    if shouldStop() { throw StopError() }
  }
}

extension stat {
  /// The kind of a file that cannot be a source.
  fileprivate var specialName: String {
    switch st_mode & S_IFMT {
    case S_IFIFO: "a FIFO"
    case S_IFSOCK: "a socket"
    case S_IFCHR, S_IFBLK: "a device"
    default: "something else"
    }
  }
}
