/// The secret that changes over TCP need.
public struct AccessToken: Sendable, Hashable {
  public let text: String

  /// 32 random bytes from the system, in hexadecimal.
  public init() {
    var generator = SystemRandomNumberGenerator()
    text = (0..<32).map { _ in
      let byte = UInt8.random(in: .min ... .max, using: &generator)
      return String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }.joined()
  }

  /// A token chosen by the user. Nil unless it has 16 to 256 characters that a header and a link carry unchanged: letters,
  /// digits, and `-._~+/=`.
  public init?(_ text: String) {
    let isAllowed = text.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "-._~+/=".utf8.contains($0) }
    guard (16...256).contains(text.utf8.count), isAllowed else { return nil }
    self.text = text
  }

  /// Whether an `Authorization` header carries this token.
  ///
  /// The comparison takes the same time wherever the tokens differ; it depends only on the length of the given token.
  func isIn(_ authorization: String?) -> Bool {
    guard let authorization else { return false }
    let scheme = "bearer "
    guard authorization.utf8.count > scheme.utf8.count,
      authorization.prefix(scheme.count).lowercased() == scheme
    else { return false }
    let (given, own) = (Array(authorization.utf8.dropFirst(scheme.utf8.count)), Array(text.utf8))
    var difference = given.count ^ own.count
    for (index, byte) in given.enumerated() { difference |= Int(byte ^ own[index % own.count]) }
    return difference == 0
  }
}

extension AccessToken: CustomStringConvertible {
  /// Hides the token, because descriptions end up in logs.
  public var description: String { "AccessToken(…)" }
}
