/// A SHA-256 digest: 32 bytes.
///
/// *Source*: FIPS 180-4.
package struct SHA256Digest: Sendable, Hashable, CustomStringConvertible {
  package static let size = 32

  package let bytes: [UInt8]

  /// Nil unless there are exactly ``size`` bytes.
  package init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.size else { return nil }
    self.bytes = Array(bytes)
  }

  /// The hexadecimal digits, in small letters.
  package var description: String { String(decoding: digits, as: UTF8.self) }

  /// The same as bytes of ASCII.
  package var digits: [UInt8] { hexDigits(of: bytes) }
}

extension SHA256Digest {
  /// The digest of all bytes of a source.
  ///
  /// - Parameter step: called with the bytes of each piece; an error ends the reading.
  /// - Throws: `ThumbnailError.unreadable`, and the errors of `step`.
  package init(of file: SourceFile, step: (_ bytes: Int) throws -> Void) throws {
    var hasher = SHA256Hasher()
    try file.forEachPiece { piece in
      piece.withUnsafeBytes { hasher.append($0) }
      try step(piece.count)
    }
    self = hasher.finish()
  }
}

/// The hexadecimal digits of bytes, in small letters.
func hexDigits(of bytes: [UInt8]) -> [UInt8] {
  let hex = Array("0123456789abcdef".utf8)
  return bytes.flatMap { [hex[Int($0 >> 4)], hex[Int($0 & 15)]] }
}
