import Fetching
import Files

#if Ledger
import CNettle
#endif

/// The URI of a file, as GLib writes it. The thumbnail cache of desktops names thumbnails by its MD5 digest.
///
/// *Source*: RFC 8089; GLib, `g_filename_to_uri`: everything is encoded but unreserved characters and ``plain``.
package struct FileURI: Sendable, Hashable {
  package let text: String
  /// The MD5 digest of the URI, as 32 digits in small letters. It needs the trait Ledger, which has nettle.
  ///
  /// *Source*: RFC 1321.
  package let digest: String

  private static let plain = "!$&'()*+,/:=@".utf8

  package init(of path: Path) {
    text = "file://" + PercentEncoding.encoded((path.absolute ?? path).bytes, keeping: Self.plain)
    digest = Self.digest(of: text)
  }

  /// The last part of a URI: that of a file in the folder from which it is looked for.
  package init(ofName name: Path) {
    text = PercentEncoding.encoded(name.bytes, keeping: Self.plain)
    digest = Self.digest(of: text)
  }

  private static func digest(of text: String) -> String {
    #if Ledger
    var context = md5_ctx()
    nettle_md5_init(&context)
    let bytes = Array(text.utf8)
    nettle_md5_update(&context, bytes.count, bytes)
    var digest = [UInt8](repeating: 0, count: 16)
    nettle_md5_digest(&context, digest.count, &digest)
    return String(decoding: hexDigits(of: digest), as: UTF8.self)
    #else
    preconditionFailure("a build without nettle names a thumbnail by a digest")
    #endif
  }
}
