import Files

#if Ledger
import CNettle
#endif

/// The URI of a file, as GLib writes it. The thumbnail cache of desktops names thumbnails by its MD5 digest.
///
/// *Source*: RFC 8089; GLib, `g_filename_to_uri`: everything is encoded but letters, digits and ``plain``.
package struct FileURI: Sendable, Hashable {
  package let text: String

  private static let plain = Set("-._~!$&'()*+,/:=@".utf8)

  /// - Parameter path: absolute.
  package init(of path: Path) { text = "file://" + Self.encoded(path.bytes) }

  private static func encoded(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var text: [UInt8] = []
    for byte in bytes {
      let isPlain =
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
        || plain.contains(byte)
      text += isPlain ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The MD5 digest of the URI, as 32 digits in small letters. It needs the trait Ledger, which has nettle.
  ///
  /// *Source*: RFC 1321.
  package var digest: String {
    #if Ledger
    var context = md5_ctx()
    nettle_md5_init(&context)
    let bytes = Array(text.utf8)
    nettle_md5_update(&context, bytes.count, bytes)
    var digest = [UInt8](repeating: 0, count: 16)
    nettle_md5_digest(&context, digest.count, &digest)
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    #else
    preconditionFailure("a build without nettle names a thumbnail by a digest")
    #endif
  }
}
