import Files
import Foundation
import SystemPackage

/// The state of one walk: its open folders and its counters.
final class Walk {
  /// Unwinds the walk after `visit` or `shouldStop` has ended it.
  struct StopError: Error {}

  private let walker: SourceWalker
  private let shouldStop: () -> Bool
  private let onError: (WalkError) -> Void
  private let visit: (Source) throws -> SourceWalker.Verdict
  private let outputs: Set<FileIdentity>
  private var walkedArguments: Set<FileIdentity> = []
  private(set) var counters = WalkCounters()

  init(
    _ walker: SourceWalker, shouldStop: @escaping () -> Bool, onError: @escaping (WalkError) -> Void,
    visit: @escaping (Source) throws -> SourceWalker.Verdict
  ) {
    self.walker = walker
    self.shouldStop = shouldStop
    self.onError = onError
    self.visit = visit
    outputs = Set(walker.outputs.compactMap { FileIdentity(of: $0) })
  }

  func run() throws {
    for (index, argument) in walker.arguments.enumerated() {
      switch argument {
      case .path(let path): try walkArgument(path, index)
      case .list(let list): try walkList(list, index)
      }
    }
  }

  private func walkArgument(_ path: Path, _ index: Int) throws {
    try checkStop()
    let status: stat
    switch FileStatus.of(path, followingLinks: true) {
    case .success(let found): status = found
    case .failure(let error): return report(WalkError(error, path, argument: index, origin: .argument))
    }
    switch status.kind {
    case .regular:
      try visitFile(Source(path: path, relativePath: path.lastName, argument: index, origin: .argument))
    case .folder:
      let identity = FileIdentity(status)
      if outputs.contains(identity) { return report(WalkError(.isOutput, path, argument: index)) }
      // A folder that is an argument twice is walked once.
      guard walkedArguments.insert(identity).inserted else { return }
      try walkFolder(path, relativePath: Path(), argument: index, origin: .argument)
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
      guard let relative = SourceList.relativePath(of: path) else {
        return report(WalkError(.badEntry, path, argument: index, reason: "no place below the output folder"))
      }
      switch FileStatus.of(path, followingLinks: true) {
      case .failure(let error): report(WalkError(error, path, argument: index, origin: .list))
      case .success(let status):
        switch status.kind {
        case .regular where relative.isEmpty || !walker.filter.accepts(file: relative): counters.filtered += 1
        case .regular:
          try visitFile(Source(path: path, relativePath: relative, argument: index, origin: .list))
        case .folder:
          if outputs.contains(FileIdentity(status)) { return report(WalkError(.isOutput, path, argument: index)) }
          try walkFolder(path, relativePath: relative, argument: index, origin: .list)
        case .link, .special: report(WalkError(.notAFile, path, argument: index, reason: status.specialName))
        }
      }
    }
  }

  /// Walks `top` and everything below it. The open folders are on a stack of their own, because deep nesting would
  /// exhaust the call stack.
  private func walkFolder(
    _ top: Path, relativePath: Path, argument: Int, origin: Source.Origin
  ) throws {
    var stack: [OpenFolder] = []
    switch OpenFolder.open(top, relativePath: relativePath) {
    case .success(let folder): stack.append(folder)
    case .failure(let error): return report(WalkError(error, top, argument: argument, origin: origin))
    }
    counters.folders += 1
    while let folder = stack.last {
      switch folder.next() {
      case .success(nil): stack.removeLast()
      case .failure(let error):
        report(WalkError(error, folder.path, argument: argument, origin: .folder))
        stack.removeLast()
      case .success(let entry?):
        try checkStop()
        if let inner = try handle(entry, in: folder, ancestors: stack, argument: argument) { stack.append(inner) }
      }
    }
  }

  /// Visits a file, or opens a folder to walk next.
  private func handle(
    _ entry: OpenFolder.Entry, in folder: OpenFolder, ancestors: [OpenFolder], argument: Int
  ) throws -> OpenFolder? {
    let path = folder.path.appending(entry.name)
    let relative = folder.relativePath.appending(entry.name)
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
      guard walker.filter.accepts(file: relative) else {
        counters.filtered += 1
        return nil
      }
      guard path.length <= SourceWalker.maximumPathLength else {
        report(WalkError(.pathTooLong, path, argument: argument))
        return nil
      }
      try visitFile(Source(path: path, relativePath: relative, argument: argument, origin: .folder))
    case .folder?:
      if entry.name == SourceWalker.workingFolderName { return nil }
      guard walker.filter.entersFolder(relative) else { return nil }
      return enter(entry, of: folder, ancestors: ancestors, argument: argument)
    case .link?: counters.linksNotFollowed += 1
    case .special?, nil: counters.special += 1
    }
    return nil
  }

  private func enter(
    _ entry: OpenFolder.Entry, of folder: OpenFolder, ancestors: [OpenFolder], argument: Int
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
      if outputs.contains(inner.identity) { return nil }
      // The folder is the output of an earlier run. It is skipped, so that no thumbnails of thumbnails are made.
      if case .success = inner.status(of: SourceWalker.workingFolderName, followingLinks: false) {
        counters.earlierOutputs += 1
        return nil
      }
      if ancestors.contains(where: { $0.identity == inner.identity }) {
        report(WalkError(.loop, path, argument: argument))
        return nil
      }
      counters.folders += 1
      return inner
    }
  }

  private func visitFile(_ source: Source) throws {
    counters.files += 1
    if try visit(source) == .stop { throw StopError() }
  }

  private func report(_ error: WalkError) {
    counters.errors += 1
    onError(error)
  }

  private func checkStop() throws {
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
