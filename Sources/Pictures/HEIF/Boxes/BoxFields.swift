import Thumbnails

/// The fields of a box, one after the other. Numbers are big-endian.
struct BoxFields {
  private let bytes: ArraySlice<UInt8>
  private var position: Int

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    position = bytes.startIndex
  }

  /// The bytes that are left.
  var remaining: Int { bytes.endIndex - position }

  /// The next `count` bytes.
  mutating func take(_ count: Int) throws(ThumbnailError) -> ArraySlice<UInt8> {
    guard count >= 0, count <= remaining else { throw .damaged("a part of its header is too short") }
    defer { position += count }
    return bytes[position..<position + count]
  }

  mutating func skip(_ count: Int) throws(ThumbnailError) { _ = try take(count) }

  /// An unsigned number of up to 8 bytes; 0 if it has none.
  mutating func number(_ size: Int) throws(ThumbnailError) -> UInt64 {
    try take(size).reduce(0) { $0 << 8 | UInt64($1) }
  }

  mutating func u8() throws(ThumbnailError) -> Int { Int(try number(1)) }
  mutating func u16() throws(ThumbnailError) -> Int { Int(try number(2)) }
  mutating func u32() throws(ThumbnailError) -> UInt32 { UInt32(truncatingIfNeeded: try number(4)) }

  /// A signed number of 2 or 4 bytes.
  mutating func signed(_ size: Int) throws(ThumbnailError) -> Int {
    let value = try number(size)
    return size == 2 ? Int(Int16(truncatingIfNeeded: value)) : Int(Int32(truncatingIfNeeded: value))
  }

  mutating func fourCC() throws(ThumbnailError) -> FourCC { FourCC(rawValue: try u32()) }

  /// The version and flags with which a full box begins.
  mutating func versionAndFlags() throws(ThumbnailError) -> (version: Int, flags: Int) {
    (try u8(), Int(try number(3)))
  }

  /// A string up to the next zero byte, or to the end.
  mutating func string() throws(ThumbnailError) -> String {
    let end = bytes[position...].firstIndex(of: 0)
    defer { position = end.map { $0 + 1 } ?? bytes.endIndex }
    return String(decoding: bytes[position..<(end ?? bytes.endIndex)], as: UTF8.self)
  }
}
