/// Chunks `tEXt` with the keyword Comment, after the chunk IHDR, which must come first.
///
/// *Source*: ISO/IEC 15948 (PNG), 5.3, 11.2.2 and 11.3.4.3.
enum PNGComments: CommentCarrier {
  private static let keyword = "Comment"
  private static let name = Array("tEXt\(keyword)\0".utf8)

  static let longestStart = PNGText.signature.count + 25
  static let overhead = 4 + name.count + 4

  static func start(in head: ArraySlice<UInt8>) -> Int? {
    head.starts(with: PNGText.signature + [0, 0, 0, 13] + "IHDR".utf8) ? longestStart : nil
  }

  static func comment(_ text: [UInt8]) -> [UInt8] { PNGText.chunk(keyword, text) }

  static func comment(at bytes: ArraySlice<UInt8>) -> (text: ArraySlice<UInt8>, size: Int)? {
    guard let size = bytes.bigEndian(at: 0, count: 4), size >= name.count - 4, bytes.count >= 12 + size,
      bytes.dropFirst(4).starts(with: name)
    else { return nil }
    return (bytes.dropFirst(4 + name.count).prefix(size + 4 - name.count), 12 + size)
  }

  static func adjust(_ file: inout [UInt8], at place: Int, by count: Int) {}
}

/// Texts in PNG files.
///
/// *Source*: ISO/IEC 15948 (PNG), 5.3, 11.3.4.3 and 11.3.4.5.
enum PNGText {
  static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

  /// - Parameter text: in Latin-1.
  static func chunk(_ keyword: String, _ text: [UInt8]) -> [UInt8] {
    chunk(Array("tEXt\(keyword)\0".utf8) + text)
  }

  /// A text of the kind `iTXt`: not compressed, in no language.
  static func international(_ keyword: String, _ text: String) -> [UInt8] {
    chunk(Array("iTXt\(keyword)\0\0\0\0\0\(text)".utf8))
  }

  private static func chunk(_ chunk: [UInt8]) -> [UInt8] {
    .bigEndian(chunk.count - 4) + chunk + .bigEndian(Int(CRC32(of: chunk).value))
  }

  /// The texts `tEXt` before the picture, by their keywords; the first one where there are several. None if this is no PNG file.
  ///
  /// - Parameter head: the first bytes of a file.
  static func all(in head: ArraySlice<UInt8>) -> [String: String] {
    guard head.starts(with: signature) else { return [:] }
    var texts: [String: String] = [:]
    var rest = head.dropFirst(signature.count)
    while let size = rest.bigEndian(at: 0, count: 4), rest.count >= 12, size <= rest.count - 12 {
      let name = rest.dropFirst(4).prefix(4)
      if name.elementsEqual("IDAT".utf8) { break }
      let data = rest.dropFirst(8).prefix(size)
      if name.elementsEqual("tEXt".utf8), let end = data.firstIndex(of: 0) {
        // Latin-1 has the first 256 characters of Unicode.
        func text(_ bytes: ArraySlice<UInt8>) -> String {
          String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        }
        let keyword = text(data[..<end])
        texts[keyword] = texts[keyword] ?? text(data[(end + 1)...])
      }
      rest = rest.dropFirst(12 + size)
    }
    return texts
  }
}

/// The checksum of PNG's chunks.
///
/// *Source*: ISO/IEC 15948, annex D.
private struct CRC32 {
  let value: UInt32

  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { rest, _ in rest & 1 == 1 ? 0xEDB8_8320 ^ rest >> 1 : rest >> 1 }
  }

  init(of bytes: [UInt8]) {
    value = ~bytes.reduce(.max) { sum, byte in Self.table[Int((sum ^ UInt32(byte)) & 0xFF)] ^ sum >> 8 }
  }
}
