import Foundation

/// Reads what a `ContactSheetWriter` writes, as a PDF reader does: from the cross-reference table at the end.
struct PDFDocument {
  struct Damage: Error {
    let reason: String
  }
  struct Object {
    /// The value up to the stream, as Latin-1.
    let value: String
    let stream: [UInt8]?

    /// The numbers of the objects that an entry refers to.
    func references(_ key: String) -> [Int] {
      guard let start = value.range(of: "/\(key) ") else { return [] }
      let rest = value[start.upperBound...]
      let end = rest.hasPrefix("[") ? rest.firstIndex(of: "]") : rest.range(of: " R")?.upperBound
      return rest[..<(end ?? rest.endIndex)].matches(of: /(\d+) 0 R/).compactMap { Int($0.1) }
    }

    func number(_ key: String) -> Int? {
      guard let start = value.range(of: "/\(key) ") else { return nil }
      return Int(value[start.upperBound...].prefix { $0.isNumber })
    }
  }

  let objects: [Int: Object]
  let trailer: Object
  /// Leaf pages in reading order.
  let pages: [Object]

  init(_ bytes: [UInt8]) throws {
    /// The text of a line that begins at an offset.
    func line(at offset: Int) throws -> String {
      guard bytes.indices.contains(offset), let end = bytes[offset...].firstIndex(of: 0x0A) else {
        throw Damage(reason: "no line at \(offset)")
      }
      return Self.latin1(bytes[offset..<end])
    }
    guard bytes.starts(with: Array("%PDF-1.7\n".utf8)) else { throw Damage(reason: "no header") }
    let end = Self.latin1(bytes.suffix(64))
    guard let start = end.firstMatch(of: /startxref\n(\d+)\n%%EOF\n$/).flatMap({ Int($0.1) }) else {
      throw Damage(reason: "no startxref at the end")
    }
    guard try line(at: start) == "xref", let count = try Int(line(at: start + 5).dropFirst(2)) else {
      throw Damage(reason: "no table at \(start)")
    }
    let entries = start + 5 + "0 \(count)\n".utf8.count
    var objects: [Int: Object] = [:]
    for number in 1..<count {
      // Each entry has 20 bytes.
      let entry = try line(at: entries + 20 * number)
      guard let match = entry.wholeMatch(of: #/(\d{10}) 00000 n /#), let offset = Int(match.1) else {
        throw Damage(reason: "entry \(number) is \(entry)")
      }
      guard try line(at: offset) == "\(number) 0 obj" else { throw Damage(reason: "object \(number) is elsewhere") }
      objects[number] = try Self.object(bytes[(offset + "\(number) 0 obj\n".utf8.count)...])
    }
    guard try line(at: entries + 20 * count) == "trailer" else { throw Damage(reason: "no trailer") }
    trailer = Object(value: Self.latin1(bytes[(entries + 20 * count)...]), stream: nil)
    self.objects = objects

    var pages: [Object] = []
    func add(_ number: Int, parent: Int?) throws -> Int {
      guard let node = objects[number] else { throw Damage(reason: "no object \(number)") }
      guard node.references("Parent").first == parent else { throw Damage(reason: "wrong parent of \(number)") }
      if node.value.contains("/Type /Page ") {
        pages.append(node)
        return 1
      }
      let count = try node.references("Kids").reduce(0) { try $0 + add($1, parent: number) }
      guard node.number("Count") == count else { throw Damage(reason: "wrong count in \(number)") }
      return count
    }
    guard let catalogue = trailer.references("Root").first.flatMap({ objects[$0] }),
      let root = catalogue.references("Pages").first
    else { throw Damage(reason: "no catalogue") }
    _ = try add(root, parent: nil)
    self.pages = pages
  }

  private static func latin1(_ bytes: ArraySlice<UInt8>) -> String {
    String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
  }

  private static func object(_ bytes: ArraySlice<UInt8>) throws -> Object {
    func range(of text: String) -> Range<Int>? { bytes.firstRange(of: Array(text.utf8)) }
    guard let end = range(of: "endobj\n") else { throw Damage(reason: "no end of object") }
    guard let stream = range(of: "\nstream\n"), stream.lowerBound < end.lowerBound else {
      return Object(value: latin1(bytes[..<end.lowerBound]), stream: nil)
    }
    let value = latin1(bytes[..<stream.lowerBound])
    guard let length = Object(value: value, stream: nil).number("Length"), length <= bytes.endIndex - stream.upperBound,
      bytes[(stream.upperBound + length)...].starts(with: Array("\nendstream\nendobj\n".utf8))
    else { throw Damage(reason: "wrong length of a stream") }
    return Object(value: value, stream: Array(bytes[stream.upperBound..<(stream.upperBound + length)]))
  }

  /// The operators of a page.
  func content(_ page: Int) throws -> String {
    guard let stream = pages[page].references("Contents").first.flatMap({ objects[$0]?.stream }) else {
      throw Damage(reason: "page \(page) has no content")
    }
    return Self.latin1(stream[...])
  }

  /// The images of a page in the order in which they are drawn, each with its box: x, y, width, height.
  func images(_ page: Int) throws -> [(object: Object, box: [Double])] {
    let number = #/(-?[0-9.]+)/#
    return try content(page).split(separator: "\n").compactMap { line in
      guard line.hasSuffix(" Do Q"), let name = line.firstMatch(of: /\/I(\d+) Do/), let image = Int(name.1) else {
        return nil
      }
      guard pages[page].value.contains("/I\(image) \(image) 0 R"), let object = objects[image] else {
        throw Damage(reason: "image \(image) is not among the resources")
      }
      let values = line.dropFirst(2).prefix { $0 != "/" }.matches(of: number).compactMap { Double($0.1) }
      return (object, [values[4], values[5], values[0], values[3]])
    }
  }

  /// The replacement texts of a page, in order.
  func texts(_ page: Int) throws -> [String] {
    try content(page).matches(of: /\/Span << \/ActualText <FEFF([0-9A-F]*)> >> BDC/).map { match in
      Self.text(hexadecimal: String(match.1))
    }
  }

  /// The codes that a page shows, in order, with escapes resolved.
  func shownTexts(_ page: Int) throws -> [String] {
    try content(page).split(separator: "\n").filter { $0.hasSuffix(" Tj ET") }.map { line in
      guard let start = line.firstIndex(of: "(") else { throw Damage(reason: "no string in \(line)") }
      var result = ""
      var rest = line[line.index(after: start)...]
      while let character = rest.popFirst(), character != ")" {
        guard character == "\\" else {
          guard character != "(", character.isASCII else { throw Damage(reason: "unescaped character in \(line)") }
          result.append(character)
          continue
        }
        if let code = UInt8(rest.prefix(3), radix: 8) {
          result.unicodeScalars.append(Unicode.Scalar(code))
          rest = rest.dropFirst(3)
        } else if let escaped = rest.popFirst() {
          result.append(escaped)
        }
      }
      guard rest == " Tj ET" else { throw Damage(reason: "the string ends early in \(line)") }
      return result
    }
  }

  /// The text of a string of UTF-16 units.
  static func text(hexadecimal: String) -> String {
    var units: [UInt16] = []
    var rest = hexadecimal[...]
    while !rest.isEmpty {
      units.append(UInt16(rest.prefix(4), radix: 16) ?? 0)
      rest = rest.dropFirst(4)
    }
    return String(decoding: units, as: UTF16.self)
  }
}
