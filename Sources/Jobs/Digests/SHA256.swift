import CNettle
import Sourcing

/// A SHA-256 digest: 32 bytes.
///
/// *Source*: FIPS 180-4.
package struct SHA256Digest: Sendable, Hashable, CustomStringConvertible {
  package static let size = Int(SHA256_DIGEST_SIZE)

  package let bytes: [UInt8]

  /// Nil unless there are exactly ``size`` bytes.
  package init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.size else { return nil }
    self.bytes = Array(bytes)
  }

  /// The hexadecimal digits, in small letters.
  package var description: String { String(decoding: digits, as: UTF8.self) }

  /// The same as bytes of ASCII.
  var digits: [UInt8] {
    let hex = Array("0123456789abcdef".utf8)
    return bytes.flatMap { [hex[Int($0 >> 4)], hex[Int($0 & 15)]] }
  }
}

/// Computes a digest of bytes that come in pieces, with nettle.
///
/// *Concurrency*: a value without shared state.
struct SHA256Hasher {
  private var context = sha256_ctx()

  init() { nettle_sha256_init(&context) }

  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    nettle_sha256_update(&context, bytes.count, start.assumingMemoryBound(to: UInt8.self))
  }

  /// The digest of everything so far. The hasher begins anew.
  mutating func finish() -> SHA256Digest {
    var bytes = [UInt8](repeating: 0, count: SHA256Digest.size)
    nettle_sha256_digest(&context, bytes.count, &bytes)
    guard let digest = SHA256Digest(bytes: bytes) else { preconditionFailure("a digest has \(bytes.count) bytes") }
    return digest
  }
}

extension SHA256Digest {
  /// The digest of all bytes of a source.
  ///
  /// - Parameter step: called with the bytes of each piece; an error ends the reading.
  /// - Throws: `ThumbnailError.unreadable`, and the errors of `step`.
  init(of file: SourceFile, step: (_ bytes: Int) throws -> Void) throws {
    var hasher = SHA256Hasher()
    try file.forEachPiece { piece in
      piece.withUnsafeBytes { hasher.append($0) }
      try step(piece.count)
    }
    self = hasher.finish()
  }
}
