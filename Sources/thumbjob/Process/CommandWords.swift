import Files
import Foundation
import ThumbnailJobs

/// The words of the command line, as text for the parser and as the bytes they are.
///
/// Two things stand between the parser and a shell's `*.jpg`. It takes text, while a name is bytes: what is not UTF-8 is
/// repaired for it, and the bytes are looked up afterwards. And its time grows with the square of the number of words:
/// 30,000 names took eight minutes. So of a long row of names it sees the first, which may be an option's value, and one
/// word that stands for all the others.
enum CommandWords {
  /// Begins a word that stands for others: a character that no keyboard makes and no name should have.
  private static let standInPrefix = "\u{F8FF}thumbjob "
  /// Rows up to this length are left as they are.
  private static let longRow = 32

  private static let words: [[UInt8]] = (1..<max(1, Int(CommandLine.argc))).compactMap { index in
    CommandLine.unsafeArgv[index].map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
  }

  private static let table = Table(words)

  /// What the parser is given.
  static var forParser: [String] { table.parsed }

  /// All of them, as one would be shown them.
  static var forPeople: [String] { words.map { String(decoding: $0, as: UTF8.self) } }

  /// The paths that a positional word of the parser's stands for.
  static func paths(of word: String) -> [Path] { table.rows[word] ?? [path(of: word)] }

  /// The path that a word, or an option's value, is.
  static func path(of text: String) -> Path { Path(bytes: bytes(of: text)) ?? Path(text) }

  /// The bytes that a word, or an option's value, was given as.
  static func bytes(of text: String) -> [UInt8] { table.originals[text] ?? Array(text.utf8) }

  private struct Table: Sendable {
    var parsed: [String] = []
    var rows: [String: [Path]] = [:]
    /// Words and values that are not UTF-8, by what the parser sees of them.
    var originals: [String: [UInt8]] = [:]

    init(_ words: [[UInt8]]) {
      var rest = words[...]
      while let first = rest.first {
        let row = rest.prefix { !$0.starts(with: "-".utf8) || $0.count == 1 }
        if row.count > longRow {
          parsed.append(text(first))
          let standIn = "\(standInPrefix)\(rows.count)"
          rows[standIn] = row.dropFirst().compactMap { Path(bytes: $0) }
          parsed.append(standIn)
          rest = rest[row.endIndex...]
        } else {
          parsed.append(text(first))
          rest = rest.dropFirst()
        }
      }
    }

    /// The word as text. Two that are repaired alike are told apart by a number behind the second.
    private mutating func text(_ word: [UInt8]) -> String {
      let text = String(decoding: word, as: UTF8.self)
      guard String(validating: word, as: UTF8.self) == nil else { return text }
      // A word of its own, or the value of an option written as --out=….
      let start = word.starts(with: "--".utf8) ? word.firstIndex(of: UInt8(ascii: "=")).map { $0 + 1 } ?? 0 : 0
      let value = String(decoding: word[start...], as: UTF8.self)
      let bytes = Array(word[start...])
      var unique = value
      while originals[unique] ?? bytes != bytes { unique = "\(value) (\(originals.count))" }
      originals[unique] = bytes
      return String(decoding: word[..<start], as: UTF8.self) + unique
    }
  }
}
