import Files
import Foundation

/// Which files of a walk are wanted: `--include` and `--exclude`.
///
/// A file is wanted when no exclude matches and, where there are includes, one of them does. Excludes also close whole
/// folders. Files named as arguments are not asked: who names a file wants it.
public struct SourceFilter: Sendable, Equatable {
  public let includes: [Glob]
  public let excludes: [Glob]

  public init(includes: [Glob] = [], excludes: [Glob] = []) {
    self.includes = includes
    self.excludes = excludes
  }

  /// - Parameter relativePath: from the source folder.
  public func accepts(file relativePath: Path) -> Bool {
    if includes.isEmpty && excludes.isEmpty { return true }
    let names = relativePath.names
    if excludes.contains(where: { $0.matches(names, isFolder: false) }) { return false }
    return includes.isEmpty || includes.contains { $0.matches(names, isFolder: false) }
  }

  /// False when an exclude closes the folder at `relativePath` from the source folder.
  public func entersFolder(_ relativePath: Path) -> Bool {
    if excludes.isEmpty { return true }
    let names = relativePath.names
    return !excludes.contains { $0.matches(names, isFolder: true) }
  }

  /// True when a walk from the source folder reaches the file at `relativePath`: the file and each folder above it.
  func reaches(file relativePath: Path) -> Bool {
    guard accepts(file: relativePath) else { return false }
    var folder = relativePath.parent
    while !folder.isEmpty {
      if !entersFolder(folder) { return false }
      folder = folder.parent
    }
    return true
  }
}

/// A pattern of names, as shells have it: `*`, `?`, `[a-z]`, and `**` for any number of folders.
///
/// Without a slash it matches the last name wherever it is (`*.jpg`, `.git`); with one, the whole path from the source
/// folder (`2024/**/*.jpg`, `/drafts`). A slash at the end matches folders only (`cache/`). Names are compared byte by
/// byte through fnmatch(3), so they need not be UTF-8.
public struct Glob: Sendable, Hashable {
  private let parts: [Part]
  private let isAnchored: Bool
  private let foldersOnly: Bool

  private enum Part: Hashable, Sendable {
    case anyFolders
    case name(Path)
  }

  /// - Throws: `TextProblem` for a pattern that could match nothing.
  public init(_ pattern: String) throws { try self.init(bytes: Array(pattern.utf8)) }

  /// A pattern of names that need not be text.
  public init(bytes: [UInt8]) throws {
    let slash = UInt8(ascii: "/")
    var body = bytes[...]
    foldersOnly = body.last == slash
    while body.last == slash { body.removeLast() }
    isAnchored = body.contains(slash)
    let names = body.split(separator: slash).map { Path(bytes: $0) }
    parts = names.compactMap { $0 }.map { $0 == "**" ? .anyFolders : .name($0) }
    if parts.isEmpty || names.contains(nil) {
      throw TextProblem("“\(printableText(of: bytes))” is not a pattern of names; write one like *.jpg")
    }
  }

  func matches(_ names: [Path], isFolder: Bool) -> Bool {
    if foldersOnly && !isFolder { return false }
    guard isAnchored else {
      guard let last = names.last, let part = parts.first else { return false }
      return Self.matches(part, last)
    }
    return matchesAll(names)
  }

  /// Linear in names × parts: after a mismatch only the last `**` can take one name more, so no case explodes.
  private func matchesAll(_ names: [Path]) -> Bool {
    var part = 0
    var name = 0
    var retry: (part: Int, name: Int)?
    while name < names.count {
      if part < parts.count, parts[part] == .anyFolders {
        retry = (part, name)
        part += 1
      } else if part < parts.count, Self.matches(parts[part], names[name]) {
        part += 1
        name += 1
      } else if let last = retry {
        retry = (last.part, last.name + 1)
        part = last.part + 1
        name = last.name + 1
      } else {
        return false
      }
    }
    return parts[part...].allSatisfy { $0 == .anyFolders }
  }

  private static func matches(_ part: Part, _ name: Path) -> Bool {
    switch part {
    case .anyFolders: true
    case .name(let pattern):
      pattern.withCString { pattern in name.withCString { fnmatch(pattern, $0, 0) == 0 } }
    }
  }
}
