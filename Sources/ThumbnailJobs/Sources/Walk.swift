import Files
import Foundation
import SystemPackage

/// One walk under way: the open folders from a source down to where it is, and what it has met.
final class Walk {
  /// Thrown to unwind when the visitor or the stop check has had enough.
  struct Stopped: Error {}

  private let walker: SourceWalker
  private let shouldStop: () -> Bool
  private let onProblem: (WalkProblem) -> Void
  private let visit: (Source) throws -> SourceWalker.Verdict
  private let outputs: Set<FileIdentity>
  private var walkedArguments: Set<FileIdentity> = []
  private(set) var counters = WalkCounters()

  init(
    _ walker: SourceWalker, shouldStop: @escaping () -> Bool, onProblem: @escaping (WalkProblem) -> Void,
    visit: @escaping (Source) throws -> SourceWalker.Verdict
  ) {
    self.walker = walker
    self.shouldStop = shouldStop
    self.onProblem = onProblem
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
    case .failure(let error): return report(WalkProblem(error, path, argument: index, origin: .argument))
    }
    switch status.kind {
    case .regular:
      try hand(on: Source(path: path, relativePath: path.lastName, argument: index, origin: .argument))
    case .folder:
      let identity = FileIdentity(status)
      if outputs.contains(identity) { return report(WalkProblem(.isOutput, path, argument: index)) }
      // The same folder named twice is walked once.
      guard walkedArguments.insert(identity).inserted else { return }
      try walkFolder(path, relativePath: Path(), filterPath: Path(), argument: index, origin: .argument)
    case .link, .special:
      report(WalkProblem(.notAFile, path, argument: index, reason: status.specialName))
    }
  }

  private func walkList(_ list: SourceList, _ index: Int) throws {
    try list.forEachEntry(shouldStop: shouldStop) { entry in
      try checkStop()
      let path: Path
      switch entry {
      case .success(let found): path = found
      case .failure(let problem):
        let kind: WalkProblem.Kind = problem.isEntry ? .badEntry : problem.isMissing ? .missingArgument : .unreadable
        return report(WalkProblem(kind, problem.path, argument: index, reason: problem.reason))
      }
      guard let relative = list.relativePath(of: path) else {
        return report(WalkProblem(.badEntry, path, argument: index, reason: "no place below the output folder"))
      }
      switch FileStatus.of(path, followingLinks: true) {
      case .failure(let error): report(WalkProblem(error, path, argument: index, origin: .list))
      case .success(let status):
        switch status.kind {
        case .regular where relative.isEmpty || !walker.filter.accepts(file: relative): counters.filtered += 1
        case .regular:
          try hand(on: Source(path: path, relativePath: relative, argument: index, origin: .list))
        case .folder:
          if outputs.contains(FileIdentity(status)) { return report(WalkProblem(.isOutput, path, argument: index)) }
          try walkFolder(path, relativePath: relative, filterPath: relative, argument: index, origin: .list)
        case .link, .special: report(WalkProblem(.notAFile, path, argument: index, reason: status.specialName))
        }
      }
    }
  }

  /// Walks `top` and all below it with a stack of open folders, so that nesting costs no call stack.
  private func walkFolder(
    _ top: Path, relativePath: Path, filterPath: Path, argument: Int, origin: Source.Origin
  ) throws {
    var stack: [OpenFolder] = []
    switch OpenFolder.open(top, relativePath: relativePath) {
    case .success(let folder): stack.append(folder)
    case .failure(let error): return report(WalkProblem(error, top, argument: argument, origin: origin))
    }
    counters.folders += 1
    while let folder = stack.last {
      switch folder.next() {
      case .success(nil): stack.removeLast()
      case .failure(let error):
        report(WalkProblem(error, folder.path, argument: argument, origin: .folder))
        stack.removeLast()
      case .success(let entry?):
        try checkStop()
        if let inner = try look(at: entry, in: folder, ancestors: stack, argument: argument) { stack.append(inner) }
      }
    }
  }

  /// Hands a file on, passes it over, or opens the folder it is, to be walked next.
  private func look(
    at entry: OpenFolder.Entry, in folder: OpenFolder, ancestors: [OpenFolder], argument: Int
  ) throws -> OpenFolder? {
    let path = folder.path.appending(entry.name)
    let relative = folder.relativePath.appending(entry.name)
    var kind = entry.kind
    if kind == nil || (kind == .link && walker.followsLinks) {
      switch folder.status(of: entry.name, followingLinks: walker.followsLinks) {
      case .success(let status): kind = status.kind
      case .failure(.noSuchFileOrDirectory) where entry.kind == .link:
        report(WalkProblem(.brokenLink, path, argument: argument))
        return nil
      case .failure(let error):
        report(WalkProblem(error, path, argument: argument, origin: .folder))
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
        report(WalkProblem(.pathTooLong, path, argument: argument))
        return nil
      }
      try hand(on: Source(path: path, relativePath: relative, argument: argument, origin: .folder))
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
      report(WalkProblem(.tooDeep, path, argument: argument))
      return nil
    }
    switch folder.openFolder(entry.name, followingLinks: walker.followsLinks) {
    case .failure(let error):
      report(WalkProblem(error, path, argument: argument, origin: .folder))
      return nil
    case .success(let inner):
      if outputs.contains(inner.identity) { return nil }
      // An output of an earlier run, into another folder: thumbnails of thumbnails are nobody's wish.
      if case .success = inner.status(of: SourceWalker.workingFolderName, followingLinks: false) {
        counters.earlierOutputs += 1
        return nil
      }
      if ancestors.contains(where: { $0.identity == inner.identity }) {
        report(WalkProblem(.loop, path, argument: argument))
        return nil
      }
      counters.folders += 1
      return inner
    }
  }

  private func hand(on source: Source) throws {
    counters.files += 1
    if try visit(source) == .stop { throw Stopped() }
  }

  private func report(_ problem: WalkProblem) {
    counters.problems += 1
    onProblem(problem)
  }

  private func checkStop() throws {
    if shouldStop() { throw Stopped() }
  }
}

extension stat {
  /// What a file that is no source is, in words.
  fileprivate var specialName: String {
    switch st_mode & S_IFMT {
    case S_IFIFO: "a FIFO"
    case S_IFSOCK: "a socket"
    case S_IFCHR, S_IFBLK: "a device"
    default: "something else"
    }
  }
}
