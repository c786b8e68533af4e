/// Chunks of our own after the chunk VP8X, which must come first. Readers skip chunks that they do not know.
///
/// *Source*: RFC 9649 (WebP), 2.3, 2.7 and 2.7.1.6.
enum WebPComments: CommentCarrier {
  private static let name = Array("tjob".utf8)

  /// The heads of RIFF and of VP8X, and the contents of the latter.
  static let longestStart = 12 + 8 + 10
  static let overhead = 8 + 1

  static func start(in head: ArraySlice<UInt8>) -> Int? {
    guard head.starts(with: "RIFF".utf8), head.dropFirst(8).starts(with: "WEBPVP8X\u{0A}\0\0\0".utf8) else {
      return nil
    }
    return longestStart
  }

  static func comment(_ text: [UInt8]) -> [UInt8] {
    // A chunk has an even number of bytes. A space at the end keeps the length of the text known.
    let padded = text.count % 2 == 0 ? text : text + [UInt8(ascii: " ")]
    return name + .littleEndian(padded.count) + padded
  }

  static func comment(at bytes: ArraySlice<UInt8>) -> (text: ArraySlice<UInt8>, size: Int)? {
    guard bytes.starts(with: name), let size = bytes.littleEndian(at: 4), size % 2 == 0, bytes.count >= 8 + size else {
      return nil
    }
    let text = bytes.dropFirst(8).prefix(size)
    return (text.last == UInt8(ascii: " ") ? text.dropLast() : text, 8 + size)
  }

  static func adjust(_ file: inout [UInt8], at place: Int, by count: Int) {
    guard let size = file[...].littleEndian(at: 4) else { return }
    file.replaceSubrange(4..<8, with: [UInt8].littleEndian(size + count))
  }
}
