import Files
import Foundation

/// A pattern of names as in shells: `*`, `?`, `[a-z]`, `{jpg,png}`, and `**` for any number of folders.
///
/// A pattern without a slash matches a name in any folder (`*.jpg`, `.git`). A pattern with a slash matches the whole
/// path from the source folder (`2024/**/*.jpg`, `/drafts`). A pattern that ends with a slash matches folders only
/// (`cache/`). The extension of a name may have any case: `*.jpg` matches `IMG_1.JPG`. A backslash takes the special
/// meaning from the next character. Names are bytes and need not be UTF-8.
///
/// fnmatch(3) matches each name. Braces, `**` and the case of extensions are implemented here, because fnmatch does not
/// have them.
package struct Glob: Sendable, Hashable {
  /// The most patterns without braces that one pattern may stand for.
  package static let maximumAlternatives = 1024
  /// The most bytes of a pattern. No path is longer.
  package static let maximumLength = Path.maximumLength

  /// The pattern as it was given.
  package let text: [UInt8]
  /// The patterns without braces.
  private let alternatives: [Alternative]

  /// - Throws: ``GlobError`` if the pattern is not complete or cannot match anything.
  package init(_ pattern: String) throws(GlobError) { try self.init(bytes: Array(pattern.utf8)) }

  /// - Throws: ``GlobError`` if the pattern is not complete or cannot match anything.
  package init(bytes: [UInt8]) throws(GlobError) {
    text = bytes
    do throws(GlobError.Reason) {
      if bytes.count > Self.maximumLength { throw .tooLong }
      if bytes.first == UInt8(ascii: "!") { throw .exclamationMark }
      var alternatives: [Alternative] = []
      for pattern in try Self.withoutBraces(bytes) { alternatives.append(try Alternative(pattern)) }
      self.alternatives = alternatives
    } catch {
      throw GlobError(pattern: bytes, reason: error)
    }
  }

  package func matches(_ names: [Path], isFolder: Bool) -> Bool {
    alternatives.contains { $0.matches(names, isFolder: isFolder) }
  }

  /// Replaces the first braces by each of their alternatives, and repeats this for every result.
  private static func withoutBraces(_ pattern: [UInt8]) throws(GlobError.Reason) -> [[UInt8]] {
    var finished: [[UInt8]] = []
    var unfinished = [pattern]
    while let next = unfinished.popLast() {
      guard let braces = try firstBraces(in: next) else {
        finished.append(next)
        continue
      }
      for choice in braces.choices.reversed() {
        unfinished.append(Array(next[..<braces.start]) + choice + Array(next[braces.end...]))
      }
      if finished.count + unfinished.count > maximumAlternatives { throw .tooManyAlternatives }
    }
    return finished
  }

  /// The first braces of a pattern: the index of `{`, the index after `}`, and the texts between the commas. Nil if there
  /// are none; brackets and escapes are then complete too.
  private static func firstBraces(
    in pattern: [UInt8]
  ) throws(GlobError.Reason) -> (start: Int, end: Int, choices: [ArraySlice<UInt8>])? {
    var (depth, start, choiceStart) = (0, 0, 0)
    var choices: [ArraySlice<UInt8>] = []
    var index = 0
    while index < pattern.count {
      switch pattern[index] {
      case UInt8(ascii: "\\"):
        index += 1
        if index == pattern.count { throw .openEscape }
      case UInt8(ascii: "["):
        guard let end = endOfBrackets(in: pattern, from: index) else { throw .openBracket }
        index = end
      case UInt8(ascii: "{"):
        if depth == 0 { (start, choiceStart) = (index, index + 1) }
        depth += 1
      case UInt8(ascii: ",") where depth == 1:
        choices.append(pattern[choiceStart..<index])
        choiceStart = index + 1
      case UInt8(ascii: "}") where depth > 0:
        depth -= 1
        if depth == 0 { return (start, index + 1, choices + [pattern[choiceStart..<index]]) }
      default: break
      }
      index += 1
    }
    if depth > 0 { throw .openBrace }
    return nil
  }

  /// The index of the `]` that closes the `[` at `start`; nil if there is none. A `]` that comes first is one of the
  /// characters.
  private static func endOfBrackets(in pattern: [UInt8], from start: Int) -> Int? {
    var index = start + 1
    if index < pattern.count, [UInt8(ascii: "!"), UInt8(ascii: "^")].contains(pattern[index]) { index += 1 }
    if index < pattern.count, pattern[index] == UInt8(ascii: "]") { index += 1 }
    while index < pattern.count, pattern[index] != UInt8(ascii: "]"), pattern[index] != UInt8(ascii: "/") {
      index += pattern[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    return index < pattern.count && pattern[index] == UInt8(ascii: "]") ? index : nil
  }
}

extension Glob: CustomStringConvertible {
  /// The pattern on one line.
  package var description: String { printableText(of: text) }
}

/// A pattern without braces.
private struct Alternative: Sendable, Hashable {
  private let parts: [Part]
  private let isAnchored: Bool
  private let foldersOnly: Bool

  private enum Part: Hashable, Sendable {
    case anyFolders
    /// - `fileExtension`: the characters after the last dot if none of them is special, otherwise nil.
    case name(Path, fileExtension: [UInt8]?)

    init(_ pattern: Path) {
      let bytes = pattern.bytes
      let cut = bytes.lastIndex(of: UInt8(ascii: ".")).map { $0 + 1 }
      let end = cut.map { Array(bytes[$0...]) } ?? []
      let isPlain =
        !end.isEmpty
        && end.allSatisfy { Character(Unicode.Scalar($0)).isLetter || Character(Unicode.Scalar($0)).isNumber }
      self = pattern == "**" ? .anyFolders : .name(pattern, fileExtension: isPlain ? end : nil)
    }
  }

  init(_ pattern: [UInt8]) throws(GlobError.Reason) {
    let slash = UInt8(ascii: "/")
    var body = pattern[...]
    foldersOnly = body.last == slash
    while body.last == slash { body.removeLast() }
    isAnchored = body.contains(slash)
    var parts: [Part] = []
    for name in body.split(separator: slash) {
      guard let name = Path(bytes: name) else { throw .nul }
      if name == ".." { throw .leavesFolder }
      if name != "." { parts.append(Part(name)) }
    }
    if parts.isEmpty { throw .empty }
    self.parts = parts
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
    guard case .name(let pattern, let fileExtension) = part else { return true }
    return pattern.withCString { pattern in
      name.withPatternCase(fileExtension).withCString { fnmatch(pattern, $0, 0) == 0 }
    }
  }
}

extension Path {
  /// The name with its extension in the case of the pattern's, if they differ in case only.
  fileprivate func withPatternCase(_ fileExtension: [UInt8]?) -> Path {
    guard let fileExtension, length > fileExtension.count,
      !bytes.suffix(fileExtension.count).elementsEqual(fileExtension),
      bytes.dropLast(fileExtension.count).last == UInt8(ascii: "."),
      bytes.suffix(fileExtension.count).elementsEqual(fileExtension, by: { $0.lowercasedASCII == $1.lowercasedASCII })
    else { return self }
    return Path(bytes: bytes.dropLast(fileExtension.count) + fileExtension) ?? self
  }
}

/// A pattern that is not complete or cannot match any name.
package struct GlobError: Error, Sendable, Equatable, CustomStringConvertible {
  package enum Reason: Error, Sendable {
    case empty, nul, tooLong, openBracket, openBrace, openEscape, tooManyAlternatives, exclamationMark, leavesFolder
  }

  /// The bytes of the pattern.
  package let pattern: [UInt8]
  package let reason: Reason

  /// One line.
  package var description: String {
    let reason =
      switch reason {
      case .empty: "it, or one of its alternatives, is empty; write one like *.jpg"
      case .nul: "no name has a NUL character"
      case .tooLong: "it is longer than \(Glob.maximumLength) bytes"
      case .openBracket: "a [ has no ] before the next /; write \\[ for the character itself"
      case .openEscape: "nothing follows its last \\; write \\\\ for the character itself"
      case .openBrace: "a { has no }; write \\{ for the character itself"
      case .tooManyAlternatives: "its braces stand for more than \(Glob.maximumAlternatives) patterns"
      case .exclamationMark:
        "a ! does not negate it; exclude files with a pattern of its own; write \\! for the character itself"
      case .leavesFolder: "it matches nothing, because no path in a source folder has .."
      }
    return "“\(printableText(of: pattern.prefix(200)))” is not a pattern of names: \(reason)"
  }
}
