import Files
import Foundation

/// Selects the files of a walk by patterns.
///
/// A file is accepted if no exclude matches it and, if there are includes, at least one of them does. An exclude that
/// matches a folder excludes everything in it. The filter does not apply to files that are arguments themselves.
public struct SourceFilter: Sendable, Equatable {
  public var includes: [Glob]
  public var excludes: [Glob]

  public init(includes: [Glob] = [], excludes: [Glob] = []) {
    self.includes = includes
    self.excludes = excludes
  }

  /// - Parameter relativePath: the path from the source folder.
  public func accepts(file relativePath: Path) -> Bool {
    if includes.isEmpty && excludes.isEmpty { return true }
    let names = relativePath.names
    if excludes.contains(where: { $0.matches(names, isFolder: false) }) { return false }
    return includes.isEmpty || includes.contains { $0.matches(names, isFolder: false) }
  }

  /// Whether no exclude matches the folder.
  ///
  /// - Parameter relativePath: the path from the source folder.
  public func entersFolder(_ relativePath: Path) -> Bool {
    if excludes.isEmpty { return true }
    let names = relativePath.names
    return !excludes.contains { $0.matches(names, isFolder: true) }
  }

  /// Whether a walk reaches the file: the filter accepts the file and enters each folder above it.
  ///
  /// - Parameter relativePath: the path from the source folder.
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

/// A pattern of names as in shells: `*`, `?`, `[a-z]`, and `**` for any number of folders.
///
/// A pattern without a slash matches a name in any folder (`*.jpg`, `.git`). A pattern with a slash matches the whole
/// path from the source folder (`2024/**/*.jpg`, `/drafts`). A pattern that ends with a slash matches folders only
/// (`cache/`). Names are bytes and need not be UTF-8. fnmatch(3) matches each name; only `**` is implemented here,
/// because fnmatch does not have it.
public struct Glob: Sendable, Hashable {
  private let parts: [Part]
  private let isAnchored: Bool
  private let foldersOnly: Bool

  private enum Part: Hashable, Sendable {
    case anyFolders
    case name(Path)
  }

  /// - Throws: ``GlobError`` if the pattern cannot match anything.
  public init(_ pattern: String) throws(GlobError) { try self.init(bytes: Array(pattern.utf8)) }

  /// - Throws: ``GlobError`` if the pattern cannot match anything.
  public init(bytes: [UInt8]) throws(GlobError) {
    let slash = UInt8(ascii: "/")
    var body = bytes[...]
    foldersOnly = body.last == slash
    while body.last == slash { body.removeLast() }
    isAnchored = body.contains(slash)
    let names = body.split(separator: slash).map { Path(bytes: $0) }
    parts = names.compactMap { $0 }.map { $0 == "**" ? .anyFolders : .name($0) }
    if parts.isEmpty || names.contains(nil) {
      throw GlobError(pattern: bytes)
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

  /// Takes time proportional to names × parts, because after a mismatch only the last `**` matches one more name.
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

/// A pattern that cannot match any name.
public struct GlobError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The bytes of the pattern.
  public let pattern: [UInt8]

  /// One line.
  public var description: String { "“\(printableText(of: pattern))” is not a pattern of names; write one like *.jpg" }
}
