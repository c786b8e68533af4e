/// Reads the elements of a small XML document from start to end: their names and their text.
///
/// It reads what services like S3 send: elements, text, the five entities and numbers of characters. Attributes, comments and
/// processing instructions are passed over. A declaration of a document type is refused, so no entity grows.
///
/// *Source*: XML 1.0. Foundation's parser would load libxml2 with every start of the program.
struct ElementReader {
  struct Element {
    /// The names from the root to the element.
    let path: [String]
    /// The text directly in it.
    let text: [UInt8]
  }

  private static let mostLevels = 16

  private let bytes: [UInt8]
  private var index = 0
  private var open: [(name: String, text: [UInt8])] = []
  /// Whether a root element has begun.
  private(set) var hasRoot = false

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The next element that ends; nil at the end of the document.
  ///
  /// - Throws: ``FetchError/badReply(_:)``
  mutating func next() throws(FetchError) -> Element? {
    while index < bytes.count {
      if bytes[index] != UInt8(ascii: "<") {
        try readText()
      } else if starts(with: "<!--") {
        try skip(past: "-->")
      } else if starts(with: "<?") {
        try skip(past: "?>")
      } else if starts(with: "<!") {
        throw .badReply("its XML has a declaration")
      } else if starts(with: "</") {
        return try close()
      } else if let element = try openElement() {
        return element
      }
    }
    guard open.isEmpty else { throw .badReply("its XML is cut off") }
    return nil
  }

  private func starts(with text: String) -> Bool { bytes[index...].starts(with: text.utf8) }

  private mutating func skip(past end: String) throws(FetchError) {
    let end = Array(end.utf8)
    while index < bytes.count, !bytes[index...].starts(with: end) { index += 1 }
    guard index < bytes.count else { throw .badReply("its XML is cut off") }
    index += end.count
  }

  /// - Returns: the element if it is empty, as in `<Key/>`.
  private mutating func openElement() throws(FetchError) -> Element? {
    guard let end = bytes[index...].firstIndex(of: UInt8(ascii: ">")) else { throw .badReply("its XML is cut off") }
    let tag = bytes[(index + 1)..<end]
    index = end + 1
    let name = String(decoding: tag.prefix { !" \t\r\n/".utf8.contains($0) }.prefix(100), as: UTF8.self)
    guard !name.isEmpty, open.count < Self.mostLevels, !open.isEmpty || !hasRoot else {
      throw .badReply("its XML is not valid")
    }
    hasRoot = true
    open.append((name, []))
    return tag.last == UInt8(ascii: "/") ? ended() : nil
  }

  private mutating func close() throws(FetchError) -> Element {
    guard let end = bytes[index...].firstIndex(of: UInt8(ascii: ">")) else { throw .badReply("its XML is cut off") }
    let name = bytes[(index + 2)..<end].prefix { !" \t\r\n".utf8.contains($0) }.prefix(100)
    index = end + 1
    guard let last = open.last, last.name.utf8.elementsEqual(name) else { throw .badReply("its XML is not valid") }
    return ended()
  }

  private mutating func ended() -> Element {
    let path = open.map(\.name)
    return Element(path: path, text: open.removeLast().text)
  }

  private mutating func readText() throws(FetchError) {
    let end = bytes[index...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count
    defer { index = end }
    guard !open.isEmpty else { return }
    var text: [UInt8] = []
    while index < end {
      guard bytes[index] == UInt8(ascii: "&") else {
        text.append(bytes[index])
        index += 1
        continue
      }
      guard let semicolon = bytes[index..<min(end, index + 12)].firstIndex(of: UInt8(ascii: ";")),
        let character = Self.character(String(decoding: bytes[(index + 1)..<semicolon], as: UTF8.self))
      else { throw .badReply("its XML has an unknown entity") }
      text += String(character).utf8
      index = semicolon + 1
    }
    open[open.count - 1].text += text
  }

  private static func character(_ entity: String) -> Unicode.Scalar? {
    switch entity {
    case "lt": "<"
    case "gt": ">"
    case "amp": "&"
    case "quot": "\""
    case "apos": "'"
    case _ where entity.hasPrefix("#x"): UInt32(entity.dropFirst(2), radix: 16).flatMap { Unicode.Scalar($0) }
    case _ where entity.hasPrefix("#"): UInt32(entity.dropFirst()).flatMap { Unicode.Scalar($0) }
    default: nil
    }
  }
}
