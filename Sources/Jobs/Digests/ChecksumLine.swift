import Files
import Sourcing

/// A line of a list of checksums: the digits of a digest, two spaces, and the name of the file.
///
/// If the name has a backslash, a newline or a carriage return, the line begins with a backslash, and these are written `\\`,
/// `\n` and `\r`. The name `-` is written `./-`, because a reader takes `-` for its standard input.
///
/// *Source*: `sha256sum` of GNU coreutils 9.1, which reads such lists with `-c`.
package struct ChecksumLine {
  /// With a newline at the end.
  package let bytes: [UInt8]

  package init(_ digest: SHA256Digest, _ name: Path) {
    let name = name == "-" ? "./-" : name
    let escapes = name.bytes.contains { Self.escape(of: $0) != nil }
    let shown = escapes ? name.bytes.flatMap { byte in Self.escape(of: byte) ?? [byte] } : Array(name.bytes)
    bytes = (escapes ? Array(#"\"#.utf8) : []) + digest.digits + Array("  ".utf8) + shown + Array("\n".utf8)
  }

  private static func escape(of byte: UInt8) -> [UInt8]? {
    switch byte {
    case UInt8(ascii: "\\"): Array(#"\\"#.utf8)
    case UInt8(ascii: "\n"): Array(#"\n"#.utf8)
    case UInt8(ascii: "\r"): Array(#"\r"#.utf8)
    default: nil
    }
  }

  /// The most bytes that ``isBeginning(_:)`` needs.
  static let headSize = 2 * SHA256Digest.size + 3

  /// Whether a file that begins with these bytes may be a list of checksums, also one that another program has made.
  ///
  /// - Parameter bytes: the first ``headSize``, or all of the file if it has fewer.
  static func isBeginning(_ bytes: [UInt8]) -> Bool {
    let line = bytes.first == UInt8(ascii: "\\") ? bytes.dropFirst() : bytes[...]
    let (digits, rest) = (line.prefix(2 * SHA256Digest.size), line.dropFirst(2 * SHA256Digest.size))
    let isHexadecimal = digits.allSatisfy { Character(UnicodeScalar($0)).isHexDigit && $0 < 0x80 }
    // The second one is a space, or an asterisk for a file that was read in binary mode.
    return digits.count == 2 * SHA256Digest.size && isHexadecimal && rest.first == UInt8(ascii: " ")
      && rest.dropFirst().first.map { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "*") } == true
  }
}
