/// Paths are bytes. They become text in two ways: for messages and for JSON.
extension Path {
  /// The path as one line of text for messages. Escapes characters that break a line, control a terminal or reverse
  /// text (`\n`, `\x1b`, `\u{202e}`), bytes that are not UTF-8 (`\xff`), and the backslash, so that no two paths look
  /// alike.
  public var printable: String { printableText(of: bytes) }

  /// The path with this printable form; nil if the text is not one.
  public init?(printable text: some StringProtocol) {
    var bytes: [UInt8] = []
    var rest = Substring(text).utf8
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\") else {
        bytes.append(byte)
        continue
      }
      guard let escaped = unescaped(&rest) else { return nil }
      bytes += escaped
    }
    self.init(bytes: bytes)
    // Each path has one printable form only.
    if printable != text { return nil }
  }

  /// The path for a JSON string. If it is not valid UTF-8, invalid parts are replaced by U+FFFD and `isRepaired` is
  /// true: the file cannot be opened with this text.
  public var jsonText: (text: String, isRepaired: Bool) {
    let bytes = Array(bytes)
    if let text = String(validating: bytes, as: UTF8.self) { return (text, false) }
    return (String(decoding: bytes, as: UTF8.self), true)
  }
}

/// The bytes of a path or name as one line of text; see ``Path/printable``.
package func printableText(of bytes: some Collection<UInt8>) -> String {
  // Most names need no escape.
  let backslash = UInt8(ascii: "\\")
  if bytes.allSatisfy({ 0x20 <= $0 && $0 < 0x7f && $0 != backslash }) { return String(decoding: bytes, as: UTF8.self) }
  var result = ""
  result.reserveCapacity(bytes.count)
  var rest = bytes[...]
  while let first = rest.first {
    let length = first < 0x80 ? 1 : first < 0xc2 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 1
    let piece = rest.prefix(length)
    if let text = String(validating: piece, as: UTF8.self), let scalar = text.unicodeScalars.first {
      result += escaped(scalar)
      rest = rest.dropFirst(length)
    } else {
      result += hexEscape(first)
      rest = rest.dropFirst()
    }
  }
  return result
}

private func escaped(_ scalar: Unicode.Scalar) -> String {
  switch scalar.value {
  case 0x0a: "\\n"
  case 0x0d: "\\r"
  case 0x09: "\\t"
  case 0x5c: "\\\\"
  case 0x00..<0x20, 0x7f: hexEscape(UInt8(scalar.value))
  // C1 control characters, line separators, and marks that change the direction of text.
  case 0x80..<0xa0, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069, 0x061c, 0xfeff:
    "\\u{\(String(scalar.value, radix: 16))}"
  default: String(scalar)
  }
}

private func hexEscape(_ byte: UInt8) -> String {
  "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
}

/// The bytes of an escape whose backslash is read already; nil if it is none of those above.
private func unescaped(_ rest: inout Substring.UTF8View) -> [UInt8]? {
  switch rest.popFirst() {
  case UInt8(ascii: "n"): return [0x0a]
  case UInt8(ascii: "r"): return [0x0d]
  case UInt8(ascii: "t"): return [0x09]
  case UInt8(ascii: "\\"): return [0x5c]
  case UInt8(ascii: "x"):
    let digits = String(rest.prefix(2))
    rest = rest.dropFirst(2)
    return digits.flatMap { UInt8($0, radix: 16) }.map { [$0] }
  case UInt8(ascii: "u"):
    guard let end = rest.firstIndex(of: UInt8(ascii: "}")) else { return nil }
    let digits = String(rest[..<end].dropFirst())
    rest = rest[end...].dropFirst()
    return digits.flatMap { UInt32($0, radix: 16) }.flatMap(Unicode.Scalar.init).map { Array(String($0).utf8) }
  default: return nil
  }
}
