import Files
import Foundation

/// The text of a job file that is safe to parse.
///
/// A YAML parser trusts its input: the work to compare aliases of aliases grows exponentially, and deep nesting
/// exhausts the stack. No job file needs either, so both are rejected before the parser reads the text.
package struct JobFileText {
  /// The most bytes that a job file may have.
  static let maximumSize = 64 << 10
  /// The most columns of indentation, and a quarter of the most opening brackets; together they bound the nesting.
  static let maximumNesting = 100

  package let text: String

  init(reading file: Path) throws(JobFileError) {
    func problem(_ message: String) -> JobFileError { JobFileError(in: file, message) }
    let descriptor: CInt
    do throws(Errno) { descriptor = try openToRead(file) } catch {
      if error == .noSuchFileOrDirectory || error == .notDirectory {
        throw JobFileError(in: file, "no such job file", isMissing: true)
      }
      throw problem("cannot be read: \(error)")
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw problem("cannot be read: \(Errno(rawValue: errno))") }
    guard status.kind == .regular else { throw problem("is not a regular file") }
    let bytes: [UInt8]
    do {
      bytes = try readAll(from: descriptor, limit: Self.maximumSize + 1)
    } catch {
      throw problem("cannot be read: \(error)")
    }
    try self.init(bytes, of: file)
  }

  init(_ bytes: [UInt8], of file: Path) throws(JobFileError) {
    func check(_ found: (line: Int, column: Int, message: String)?) throws(JobFileError) {
      guard let (line, column, message) = found else { return }
      throw JobFileError([JobFileMistake(file: file, line: line, column: column, message: message)])
    }
    if bytes.count > Self.maximumSize { try check((0, 0, "is larger than 64 KiB, the limit of a job file")) }
    // A byte order mark, which some editors write, says nothing in UTF-8.
    let bytes = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? Array(bytes.dropFirst(3)) : bytes
    let lines = bytes.split(separator: 0x0a, omittingEmptySubsequences: false)
    try check(Self.firstNonText(lines))
    text = String(decoding: bytes, as: UTF8.self)
    try check(Self.firstTooDeep(lines))
    try check(Self.firstReused(lines))
  }

  private static func firstNonText(_ lines: [ArraySlice<UInt8>]) -> (line: Int, column: Int, message: String)? {
    for (index, line) in lines.enumerated() {
      if String(validating: line, as: UTF8.self) == nil {
        return (index + 1, 1, "not UTF-8 text: \(printableText(of: line.prefix(60)))")
      }
      if let control = line.firstIndex(where: { ($0 < 0x20 && $0 != 0x09 && $0 != 0x0d) || $0 == 0x7f }) {
        let column = String(decoding: line[..<control], as: UTF8.self).unicodeScalars.count + 1
        return (
          index + 1, column, "a control character, \(printableText(of: [line[control]])), is not allowed in a job file"
        )
      }
    }
    return nil
  }

  /// Finds nesting that may be too deep for the parser. Each level needs an opening bracket or one more column of
  /// indentation. All brackets of the file count, even if they are closed again or within quotes.
  private static func firstTooDeep(_ lines: [ArraySlice<UInt8>]) -> (line: Int, column: Int, message: String)? {
    var brackets = 0
    for (index, line) in lines.enumerated() {
      let lead = line.prefix { " \t-?:".utf8.contains($0) }
      if lead.count == line.count || line[lead.endIndex] == UInt8(ascii: "#") { continue }
      brackets += line.count { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "{") }
      if lead.count > maximumNesting || brackets > 4 * maximumNesting {
        return (index + 1, lead.count + 1, "nested too deeply for a job file")
      }
    }
    return nil
  }

  /// Finds a name that is both an anchor (`&name`) and an alias (`*name`).
  private static func firstReused(_ lines: [ArraySlice<UInt8>]) -> (line: Int, column: Int, message: String)? {
    var anchors: Set<ArraySlice<UInt8>> = []
    var aliases: Set<ArraySlice<UInt8>> = []
    for (index, line) in lines.enumerated() {
      for place in line.indices where line[place] == UInt8(ascii: "&") || line[place] == UInt8(ascii: "*") {
        if place > line.startIndex, isNameByte(line[place - 1]) { continue }
        let name = line[(place + 1)...].prefix(while: isNameByte)
        if name.isEmpty { continue }
        if line[place] == UInt8(ascii: "&") { anchors.insert(name) } else { aliases.insert(name) }
        if anchors.contains(name) && aliases.contains(name) {
          let column = String(decoding: line[..<place], as: UTF8.self).unicodeScalars.count + 1
          return (index + 1, column, "anchors and aliases (& and *) are not allowed in a job file; write the value out")
        }
      }
    }
    return nil
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    Unicode.Scalar(byte).properties.isAlphabetic && byte < 0x80 || (0x30...0x39).contains(byte)
      || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
  }
}
