import Files
import Foundation

/// A file of profiles: sections in brackets, and a `key = value` on each line.
struct ProfileFile {
  private static let mostBytes = 1 << 20

  private var sections: [String: [String: String]] = [:]

  /// Reads a file. One that does not exist has no sections.
  ///
  /// - Throws: ``FetchError/account(_:)``
  init(_ path: Path) throws(FetchError) {
    let bytes: [UInt8]
    var isFile = true
    do throws(Errno) {
      let file = Descriptor(try openToRead(path))
      var status = stat()
      if fstat(file.number, &status) != 0 { throw Errno(rawValue: errno) }
      // A pipe may have to be waited for. /dev/null stands for a file without sections.
      isFile = status.kind == .regular || path == "/dev/null"
      bytes = isFile ? try readAll(from: file.number, limit: Self.mostBytes + 1) : []
    } catch {
      guard error == .noSuchFileOrDirectory || error == .notDirectory else {
        throw .account("\(path.printable) cannot be read: \(systemText(error.rawValue))")
      }
      bytes = []
    }
    guard isFile else { throw .account("\(path.printable) is no file") }
    guard bytes.count <= Self.mostBytes else { throw .account("\(path.printable) has more than a mebibyte") }
    self.init(text: String(decoding: bytes, as: UTF8.self))
  }

  init(text: String) {
    var name: String?
    // Whether the last value is a group of settings, which the lines after it have, with spaces before them.
    var isInGroup = false
    for line in text.drop(while: { $0 == "\u{FEFF}" }).split(whereSeparator: \.isNewline) {
      let words = line.trimmingCharacters(in: .whitespaces)
      if words.isEmpty || words.hasPrefix("#") || words.hasPrefix(";") || isInGroup && line.first?.isWhitespace == true
      {
        continue
      }
      if words.hasPrefix("["), let end = words.firstIndex(of: "]") {
        name = words[words.index(after: words.startIndex)..<end].split { $0 == " " || $0 == "\t" }.joined(
          separator: " ")
      } else if let name, let equals = words.firstIndex(of: "=") {
        let key = words[..<equals].trimmingCharacters(in: .whitespaces).lowercased()
        let value = words[words.index(after: equals)...].trimmingCharacters(in: .whitespaces)
        isInGroup = value.isEmpty
        if !value.isEmpty { sections[name, default: [:]][key] = value }
      }
      // A section without settings is one, too.
      if let name, sections[name] == nil { sections[name] = [:] }
    }
  }

  /// The settings of a section, by their names in small letters; nil if there is no such section.
  func section(_ name: String) -> [String: String]? { sections[name] }
}
