import Foundation

#if Ledger
import CNettle
#endif

/// The signature of a path of thumbor: HMAC-SHA1, or HMAC-SHA256, of the path in base64 for URLs.
///
/// *Source*: thumbor's documentation, "Security".
enum PathSignature {
  static func isDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "="): true
    default: false
    }
  }

  /// Whether a text is the signature of a path. Takes the same time wherever they differ.
  static func matches(_ text: Substring, of path: Substring, _ key: SecretKey) -> Bool {
    let given = Array(text.utf8)
    let path = Array(path.utf8)
    return [sha1(of: path, key.bytes), sha256(of: path, key.bytes)].map { digest in
      SecretKey.areEqual(Array(base64(digest).utf8), given)
    }.contains(true)
  }

  private static func base64(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
  }

  #if Ledger
  private static func sha1(of bytes: [UInt8], _ key: [UInt8]) -> [UInt8] {
    var context = hmac_sha1_ctx()
    nettle_hmac_sha1_set_key(&context, key.count, key)
    nettle_hmac_sha1_update(&context, bytes.count, bytes)
    var digest = [UInt8](repeating: 0, count: Int(SHA1_DIGEST_SIZE))
    nettle_hmac_sha1_digest(&context, digest.count, &digest)
    return digest
  }

  private static func sha256(of bytes: [UInt8], _ key: [UInt8]) -> [UInt8] {
    var context = hmac_sha256_ctx()
    nettle_hmac_sha256_set_key(&context, key.count, key)
    nettle_hmac_sha256_update(&context, bytes.count, bytes)
    var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_SIZE))
    nettle_hmac_sha256_digest(&context, digest.count, &digest)
    return digest
  }
  #else
  // A build without the trait Ledger has no nettle, and accepts no signed paths.
  private static func sha1(of bytes: [UInt8], _ key: [UInt8]) -> [UInt8] { [] }
  private static func sha256(of bytes: [UInt8], _ key: [UInt8]) -> [UInt8] { [] }
  #endif
}
