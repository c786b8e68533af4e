/// The address of a status endpoint.
public enum StatusAddress: Sendable, Hashable {
  /// No endpoint.
  case off
  /// A socket in the file system, by its path.
  case unix(String)
  /// A TCP port; 0 for any free port.
  case tcp(host: String, port: Int)

  /// Reads `unix:PATH`, `HOST:PORT`, `[::1]:PORT`, `:PORT` (which is 127.0.0.1) or `off`.
  ///
  /// - Throws: ``StatusAddressError``
  public init(_ text: String) throws(StatusAddressError) {
    if text == "off" {
      self = .off
    } else if text.hasPrefix("unix:") {
      let path = String(text.dropFirst("unix:".count))
      guard !path.isEmpty else { throw StatusAddressError(text, "no path follows unix:") }
      guard !path.utf8.contains(0) else { throw StatusAddressError(text, "a path cannot contain a zero byte") }
      self = .unix(path)
    } else {
      guard let colon = text.lastIndex(of: ":") else {
        throw StatusAddressError(text, "it is neither unix:PATH nor HOST:PORT nor off")
      }
      let (host, digits) = (text[..<colon], text[text.index(after: colon)...])
      guard digits.isDecimal, let port = Int(digits), port <= 65535 else {
        throw StatusAddressError(text, "the port must be a number from 0 to 65535")
      }
      self = .tcp(host: try Self.host(String(host), of: text), port: port)
    }
  }

  private static func host(_ host: String, of text: String) throws(StatusAddressError) -> String {
    if host.isEmpty { return "127.0.0.1" }
    if host.hasPrefix("["), host.hasSuffix("]") {
      let address = host.dropFirst().dropLast()
      // The rest of an IPv6 address may be an IPv4 address, and may name an interface after a percent sign.
      let isAllowed = address.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || ":.%-_".utf8.contains($0) }
      guard address.contains(":"), isAllowed else {
        throw StatusAddressError(text, "no IPv6 address is in the brackets")
      }
      return String(address)
    }
    guard !host.contains(":") else {
      throw StatusAddressError(text, "an IPv6 address is written in brackets, as in [::1]:8080")
    }
    let isAllowed = host.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "-.".utf8.contains($0) }
    guard isAllowed else { throw StatusAddressError(text, "the host must be a name or an IP address") }
    return host
  }
}

extension StatusAddress: CustomStringConvertible {
  /// As ``init(_:)`` reads it.
  public var description: String {
    switch self {
    case .off: "off"
    case .unix(let path): "unix:\(path)"
    case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
  }
}

/// A text is not a status address.
public struct StatusAddressError: Error, Sendable, Equatable, CustomStringConvertible {
  public let text: String
  public let reason: String

  init(_ text: String, _ reason: String) { (self.text, self.reason) = (text, reason) }

  public var description: String { "status address \"\(text)\": \(reason)" }
}
