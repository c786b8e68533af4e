import Files

/// The encoding of bytes in a URL.
///
/// *Source*: RFC 3986, 2.1; the signature of S3 wants everything encoded but unreserved characters.
package enum PercentEncoding {
  private static let digits = Array("0123456789ABCDEF".utf8)

  static func encoded(_ byte: UInt8) -> [UInt8] { [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]] }

  /// The bytes with everything encoded but letters, digits and `-._~`.
  ///
  /// - Parameter kept: further bytes that stay.
  package static func encoded(_ bytes: some Sequence<UInt8>, keeping kept: some Collection<UInt8> = []) -> String {
    var text: [UInt8] = []
    for byte in bytes {
      if isUnreserved(byte) || kept.contains(byte) { text.append(byte) } else { text += encoded(byte) }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
      || [0x2d, 0x2e, 0x5f, 0x7e].contains(byte)
  }

  /// The bytes without percent encoding. What is no valid encoding stays.
  ///
  /// - Parameters:
  ///   - plusIsSpace: whether `+` is a space, as in forms.
  ///   - mayDecode: whether the encoding of a byte is replaced by the byte.
  static func decoded(
    _ bytes: some Sequence<UInt8>, plusIsSpace: Bool = false, where mayDecode: (UInt8) -> Bool = { _ in true }
  ) -> [UInt8] {
    let bytes = Array(bytes)
    var decoded: [UInt8] = []
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count, let high = value(bytes[index + 1]),
        let low = value(bytes[index + 2]), mayDecode(high << 4 | low)
      {
        decoded.append(high << 4 | low)
        index += 3
      } else {
        decoded.append(plusIsSpace && bytes[index] == UInt8(ascii: "+") ? UInt8(ascii: " ") : bytes[index])
        index += 1
      }
    }
    return decoded
  }

  /// The text without percent encoding; nil if an encoding is not valid, or if the text is not UTF-8.
  package static func text(_ encoded: some StringProtocol, plusIsSpace: Bool = false) -> String? {
    let bytes = Array(encoded.utf8)
    for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: "%") {
      guard index + 2 < bytes.count, value(bytes[index + 1]) != nil, value(bytes[index + 2]) != nil else { return nil }
    }
    return String(validating: decoded(bytes, plusIsSpace: plusIsSpace), as: UTF8.self)
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case 0x30...0x39: digit - 0x30
    case 0x41...0x46: digit - 0x41 + 10
    case 0x61...0x66: digit - 0x61 + 10
    default: nil
    }
  }
}

extension Path {
  /// The path as an address: with everything encoded but letters, digits, `-._~` and slashes.
  package var urlText: String { PercentEncoding.encoded(bytes, keeping: "/".utf8) }
}
