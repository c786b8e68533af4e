import Files
import Foundation
import SystemPackage

/// A file of profiles: sections in brackets, and a `key = value` on each line.
struct ProfileFile {
  private static let mostBytes = 1 << 20

  private var sections: [String: [String: String]] = [:]

  /// Reads a file. One that does not exist has no sections.
  ///
  /// - Throws: ``FetchError/account(_:)``
  init(_ path: Path) throws(FetchError) {
    let bytes: [UInt8]
    do throws(Errno) {
      let file = Descriptor(try openToRead(path))
      bytes = try readAll(from: file.number, limit: Self.mostBytes)
    } catch {
      guard error == .noSuchFileOrDirectory || error == .notDirectory else {
        throw .account("\(path.printable) cannot be read: \(systemText(error.rawValue))")
      }
      bytes = []
    }
    self.init(text: String(decoding: bytes, as: UTF8.self))
  }

  init(text: String) {
    var name: String?
    for line in text.split(whereSeparator: \.isNewline) {
      // A line that begins with a space belongs to the value above, which is a group of settings.
      guard let first = line.first, !first.isWhitespace, first != "#", first != ";" else { continue }
      let words = line.trimmingCharacters(in: .whitespaces)
      if words.hasPrefix("["), let end = words.firstIndex(of: "]") {
        name = words[words.index(after: words.startIndex)..<end].split { $0 == " " || $0 == "\t" }.joined(
          separator: " ")
      } else if let name, let equals = words.firstIndex(of: "=") {
        let key = words[..<equals].trimmingCharacters(in: .whitespaces).lowercased()
        let value = words[words.index(after: equals)...].trimmingCharacters(in: .whitespaces)
        if !value.isEmpty { sections[name, default: [:]][key] = value }
      }
      // A section without settings is one, too.
      if let name, sections[name] == nil { sections[name] = [:] }
    }
  }

  /// The settings of a section, by their names in small letters; nil if there is no such section.
  func section(_ name: String) -> [String: String]? { sections[name] }
}
