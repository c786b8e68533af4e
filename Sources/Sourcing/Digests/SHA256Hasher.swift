#if Ledger
import CNettle

/// Computes a digest of bytes that come in pieces, with nettle.
///
/// *Concurrency*: a value without shared state.
package struct SHA256Hasher: Sendable {
  private var context = sha256_ctx()

  package init() { nettle_sha256_init(&context) }

  package mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    nettle_sha256_update(&context, bytes.count, start.assumingMemoryBound(to: UInt8.self))
  }

  /// The digest of everything so far. The hasher begins anew.
  package mutating func finish() -> SHA256Digest {
    var bytes = [UInt8](repeating: 0, count: SHA256Digest.size)
    nettle_sha256_digest(&context, bytes.count, &bytes)
    guard let digest = SHA256Digest(bytes: bytes) else { preconditionFailure("a digest has \(bytes.count) bytes") }
    return digest
  }
}
#else
/// A build without the trait Ledger has no nettle, and makes no checksums.
package struct SHA256Hasher: Sendable {
  package init() {}

  package mutating func append(_ bytes: UnsafeRawBufferPointer) {}

  package mutating func finish() -> SHA256Digest { preconditionFailure("a build without nettle computes a digest") }
}
#endif
