import CEarlySignals
import Files
import Foundation
import JobSettings

/// The words of the command line, as text for ArgumentParser and as their original bytes.
///
/// A shell's `*.jpg` can give the parser two problems. A name is bytes, but the parser takes text: a name that is not UTF-8
/// is repaired, and its bytes are looked up afterwards. And the parser's time grows with the square of the number of words
/// (30,000 names took eight minutes): of many names in a row it sees only the first, which may be the value of an option,
/// and one word that stands for all others.
enum CommandWords {
  private static let words: [[UInt8]] = {
    #if os(Linux)
    let arguments = sequence(first: 1) { $0 + 1 }.lazy.map { cearlysignals_argument(CInt($0)) }
    #else
    let arguments = (1..<max(1, Int(CommandLine.argc))).lazy.map {
      CommandLine.unsafeArgv[$0].map { UnsafePointer($0) }
    }
    #endif
    return arguments.prefix { $0 != nil }.compactMap { argument in
      argument.map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
    }
  }()

  private static let table = Table(words)

  /// The words for the parser.
  static var forParser: [String] { withValues(table.parsed) }

  /// The words with a value for `--prune`, which needs none: the parser would take the next word for it.
  static func withValues(_ words: [String]) -> [String] {
    let end = words.firstIndex(of: "--") ?? words.endIndex
    return words[..<end].map { $0 == "--prune" ? "--prune=\(PruneMode.yes.rawValue)" : $0 } + words[end...]
  }

  /// All words as text to show.
  static var forPeople: [String] { words.map { String(decoding: $0, as: UTF8.self) } }

  /// The paths that an argument of the parser stands for.
  static func paths(of word: String) -> [Path] { table.paths(of: word) }

  /// The path of a word, or of the value of an option.
  static func path(of text: String) -> Path { table.path(of: text) }

  /// The original bytes of a word, or of the value of an option.
  static func bytes(of text: String) -> [UInt8] { table.bytes(of: text) }

  /// Converts words to text for the parser, and back.
  struct Table: Sendable {
    /// The beginning of a word that stands for others. No keyboard types its first character.
    private static let standInPrefix = "\u{F8FF}thumbjob "
    /// A row of more names than this is replaced.
    static let longestRow = 32

    private(set) var parsed: [String] = []
    private var rows: [String: [Path]] = [:]
    /// The bytes of words and values that are not UTF-8, by their repaired text.
    private var originals: [String: [UInt8]] = [:]

    init(_ words: [[UInt8]]) {
      var rest = words[...]
      while let first = rest.first {
        let row = rest.prefix { !$0.starts(with: "-".utf8) || $0.count == 1 }
        if row.count > Self.longestRow {
          parsed.append(text(first))
          let standIn = "\(Self.standInPrefix)\(rows.count)"
          rows[standIn] = row.dropFirst().compactMap { Path(bytes: $0) }
          parsed.append(standIn)
          rest = rest[row.endIndex...]
        } else {
          parsed.append(text(first))
          rest = rest.dropFirst()
        }
      }
    }

    func paths(of word: String) -> [Path] { rows[word] ?? [path(of: word)] }

    func path(of text: String) -> Path { Path(bytes: bytes(of: text)) ?? Path(text) }

    func bytes(of text: String) -> [UInt8] { originals[text] ?? Array(text.utf8) }

    /// The word as text. If two words would have the same repaired text, the second gets a number.
    private mutating func text(_ word: [UInt8]) -> String {
      let text = String(decoding: word, as: UTF8.self)
      guard String(validating: word, as: UTF8.self) == nil else { return text }
      // In --out=… the value begins after the equals sign.
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
