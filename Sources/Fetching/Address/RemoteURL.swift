import Files

/// The address of a source on the network: an `http` or `https` URL.
///
/// *Source*: RFC 3986.
package struct RemoteURL: Sendable, Hashable {
  package enum Scheme: String, Sendable {
    case http, https

    var port: Int { self == .http ? 80 : 443 }
  }

  /// The most bytes of a URL.
  static let longest = 8192

  package let scheme: Scheme
  /// In small letters. An IPv6 address is in brackets.
  package let host: String
  /// Nil for the usual one of the scheme.
  package let port: Int?
  /// Begins with a slash.
  let path: String
  let query: String?
  /// `user:password` for the server; nil if the URL has none.
  let userInfo: String?

  /// Reads a URL. A fragment is dropped, because servers do not get it.
  ///
  /// - Throws: ``RemoteURLError``
  package init(parsing bytes: some Collection<UInt8>) throws(RemoteURLError) {
    let shown = Self.beginning(of: bytes)
    func error(_ reason: String) -> RemoteURLError { RemoteURLError(url: Self.withoutSecrets(shown), reason: reason) }
    guard bytes.count <= Self.longest else { throw error("longer than \(Self.longest) bytes") }
    guard bytes.allSatisfy({ (0x21...0x7e).contains($0) }) else {
      throw error("has a character that a URL must not have; write a space as %20, and é as %C3%A9")
    }
    let text = String(decoding: bytes, as: UTF8.self).prefix { $0 != "#" }
    guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://"),
      let scheme = Scheme(rawValue: text[..<colon].lowercased())
    else { throw error("only http, https and s3 can be fetched") }
    let rest = text[text.index(colon, offsetBy: 3)...]
    let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
    var authority = rest[..<end]
    if let at = authority.lastIndex(of: "@") {
      userInfo = String(authority[..<at])
      authority = authority[authority.index(after: at)...]
    } else {
      userInfo = nil
    }
    guard let (host, port) = Self.hostAndPort(authority) else { throw error("has no valid host") }
    self.scheme = scheme
    self.host = host.lowercased()
    self.port = port == scheme.port ? nil : port
    let target = rest[end...]
    let mark = target.firstIndex(of: "?")
    let path = target[..<(mark ?? target.endIndex)]
    self.path = path.isEmpty ? "/" : String(path)
    query = mark.map { String(target[target.index(after: $0)...]) }
  }

  /// A URL of these parts, which must be valid.
  init(scheme: Scheme, host: String, port: Int?, path: String, query: String?) {
    (self.scheme, self.host, self.port, self.path, self.query) = (scheme, host, port, path, query)
    userInfo = nil
  }

  /// - Returns: nil if the text is no host with an optional port.
  private static func hostAndPort(_ text: Substring) -> (host: Substring, port: Int?)? {
    let start = text.hasPrefix("[") ? text.firstIndex(of: "]") ?? text.endIndex : text.startIndex
    let colon = text[start...].firstIndex(of: ":")
    let host = text[..<(colon ?? text.endIndex)]
    let isLegal =
      text.hasPrefix("[")
      ? host.hasSuffix("]") && host.dropFirst().dropLast().allSatisfy { $0.isHexDigit || ":.".contains($0) }
      : host.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) || "-._".contains($0) }
        // Without an empty label, so that the host is never the folder above.
        && !host.hasPrefix(".") && !host.contains("..")
    guard isLegal, !host.isEmpty, host.utf8.count <= 255 else { return nil }
    guard let colon else { return (host, nil) }
    let digits = text[text.index(after: colon)...]
    if digits.isEmpty { return (host, nil) }
    guard digits.allSatisfy({ $0.isASCII && $0.isNumber }), let port = UInt16(digits), port > 0 else { return nil }
    return (host, Int(port))
  }

  /// The host, with its port unless it is the usual one.
  package var authority: String { port.map { "\(host):\($0)" } ?? host }

  /// What is requested: everything but user and password.
  package var text: String { "\(scheme.rawValue)://\(authority)\(path)" + (query.map { "?\($0)" } ?? "") }
}

extension RemoteURL {
  /// The same for all links to a file, however they are signed.
  package var identity: String {
    "\(scheme.rawValue)://\(authority)\(path)" + (queryOfContents.map { "?\($0)" } ?? "")
  }

  /// A text that may be a URL, for people: without user, password and secrets.
  package static func printable(_ bytes: some Collection<UInt8>) -> String { withoutSecrets(beginning(of: bytes)) }
}

extension RemoteURL: CustomStringConvertible {
  /// The URL for people, without user, password and secrets.
  package var description: String { Self.withoutSecrets(text) }

  /// Names of parameters whose values open what they belong to, in small letters.
  private static let secrets: Set<Substring> = [
    "x-amz-signature", "x-amz-credential", "x-amz-security-token", "x-goog-signature", "x-goog-credential", "signature",
    "awsaccesskeyid", "key-pair-id", "policy", "sig", "token", "access_token", "auth", "key", "api_key", "apikey",
    "password", "secret",
  ]

  private static func withoutSecrets(_ text: String) -> String {
    var text = text
    if let start = text.range(of: "://")?.upperBound,
      let at = text[start...].prefix(while: { $0 != "/" && $0 != "?" }).lastIndex(of: "@")
    {
      text.removeSubrange(start...at)
    }
    guard let mark = text.firstIndex(of: "?") else { return text }
    let parameters = text[text.index(after: mark)...].split(separator: "&", omittingEmptySubsequences: false)
    let shown = parameters.map { parameter -> String in
      guard let equals = parameter.firstIndex(of: "="), isSecret(parameter[..<equals]) else { return String(parameter) }
      return parameter[...equals] + "…"
    }
    return text[...mark] + shown.joined(separator: "&")
  }

  /// The beginning of a text that may be no URL, for people. What is before its last `@` may be a password, in whatever form.
  private static func beginning(of bytes: some Collection<UInt8>) -> String {
    let bytes = Array(bytes.prefix(longest + 1))
    let scheme = bytes.prefix(20).split(separator: UInt8(ascii: ":"), maxSplits: 1).first.map { $0 + "://".utf8 } ?? []
    let at = bytes.starts(with: scheme) ? bytes.lastIndex(of: UInt8(ascii: "@")) : nil
    let kept = at.map { scheme + bytes[($0 + 1)...] } ?? bytes[...]
    return Path(bytes: kept.prefix(200).filter { $0 != 0 })?.printable ?? ""
  }

  private static func isSecret(_ name: Substring) -> Bool { secrets.contains(Substring(name.lowercased())) }

  /// The parameters that sign a URL, by the name of the signature: Azure; CloudFront and S3 before version 4.
  private static let signing: [String: Set<String>] = [
    "sig": ["sig", "se", "sv", "sr", "sp", "st", "spr", "skoid", "sktid", "skt", "ske", "sks", "skv"],
    "signature": ["signature", "expires", "policy", "key-pair-id", "awsaccesskeyid"],
  ]

  /// The query without what only signs the request, and is another one in each link to the same file. A parameter such as
  /// `key` may choose the file, so it stays.
  var queryOfContents: String? {
    guard let query else { return nil }
    let parameters = query.split(separator: "&").map { (text: $0, name: $0.prefix { $0 != "=" }.lowercased()) }
    let names = parameters.reduce(into: Set<String>()) { $0.formUnion(Self.signing[$1.name] ?? []) }
    let kept = parameters.filter { _, name in
      !name.hasPrefix("x-amz-") && !name.hasPrefix("x-goog-") && !names.contains(name)
    }.map(\.text)
    return kept.isEmpty ? nil : kept.joined(separator: "&")
  }
}

/// A text is no URL that can be fetched.
package struct RemoteURLError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The beginning of the text, without user, password and secrets.
  package let url: String
  package let reason: String

  package var description: String { "\(url): \(reason)" }
}
