#if Ledger
import CNettle

/// The SHA-256 digest of a picture that comes in pieces. Pictures of equal digests are equal, whoever sends them.
struct BodyDigest: Sendable {
  private var context = sha256_ctx()

  init() { nettle_sha256_init(&context) }

  mutating func append(_ bytes: [UInt8]) { nettle_sha256_update(&context, bytes.count, bytes) }

  /// The digest of everything so far. It begins anew.
  mutating func finish() -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_SIZE))
    nettle_sha256_digest(&context, digest.count, &digest)
    return digest
  }
}
#else
/// A build without the trait Ledger has no nettle, and keeps no previews.
struct BodyDigest: Sendable {
  mutating func append(_ bytes: [UInt8]) {}

  mutating func finish() -> [UInt8] { preconditionFailure("a build without nettle computes a digest") }
}
#endif
