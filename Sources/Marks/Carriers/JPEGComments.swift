import Thumbnails

/// Comment segments after the JFIF segment, which must come first.
///
/// *Source*: ITU-T T.81, B.2.4.5 (comment); JFIF 1.02.
enum JPEGComments: CommentCarrier {
  /// SOI and a JFIF segment without a preview.
  static let longestStart = 20
  static let overhead = 4

  static func start(in head: ArraySlice<UInt8>) -> Int? {
    let bytes = head.dropFirst(2)
    guard head.starts(with: JPEGMarker.soi.bytes), bytes.count > 4, bytes.starts(with: JPEGMarker.app0.bytes),
      bytes.bigEndian(at: 2, count: 2) == longestStart - 4
    else { return nil }
    return longestStart
  }

  static func comment(_ text: [UInt8]) -> [UInt8] {
    let size = 2 + text.count
    return JPEGMarker.com.bytes + [UInt8(size >> 8), UInt8(size & 0xFF)] + text
  }

  static func comment(at bytes: ArraySlice<UInt8>) -> (text: ArraySlice<UInt8>, size: Int)? {
    guard bytes.starts(with: JPEGMarker.com.bytes), let size = bytes.bigEndian(at: 2, count: 2), size >= 2,
      bytes.count >= 2 + size
    else { return nil }
    return (bytes.dropFirst(overhead).prefix(size - 2), 2 + size)
  }

  static func adjust(_ file: inout [UInt8], at place: Int, by count: Int) {}
}
