#if Ledger
import CNettle

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
#else
/// A build without the trait Ledger has no nettle, and makes no checksums.
struct SHA256Hasher {
  mutating func append(_ bytes: UnsafeRawBufferPointer) {}

  mutating func finish() -> SHA256Digest { preconditionFailure("a job without checksums has asked for one") }
}
#endif
