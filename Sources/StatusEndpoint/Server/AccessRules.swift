#if Endpoint
import Foundation
import HTTPTypes

/// Decides whether a request is allowed, by its Host header, its origin, and its token.
struct AccessRules: Sendable {
  /// Which clients can reach the socket.
  enum Reach: Sendable, Equatable {
    /// A unix socket: the mode of its file controls access.
    case file
    /// TCP on this machine.
    case machine
    /// TCP from other machines; through any address of this machine if it is a wildcard.
    case network(isWildcard: Bool)
  }

  let reach: Reach
  /// The host of the configured address.
  let host: String
  let token: AccessToken

  /// - Throws: ``HTTPError`` if the request names two hosts, or may come from a page of another site.
  func checkOrigin(_ head: HTTPRequest, isPage: Bool) throws(HTTPError) {
    // The first Host header is the authority; others stay among the fields.
    guard !head.headerFields.contains(.host) else {
      throw HTTPError(.badRequest, "the request names two hosts; send one Host header, and no other host in the URI")
    }
    let authority = head.authority?.lowercased()
    guard let authority, let name = Self.name(of: authority), isOwnName(name) else {
      throw HTTPError(.forbidden, "the Host header names another server; use the address that thumbjob has printed")
    }
    let fields = head.headerFields
    if let origin = fields[.origin] {
      guard origin == "http://\(authority)" || origin == "https://\(authority)" else {
        throw HTTPError(.forbidden, "pages of another origin may not send requests")
      }
    }
    switch fields[.fetchSite] {
    case nil, "same-origin", "none": break
    default:
      // The only thing that another site may do is link to the page.
      guard isPage, fields[.fetchMode] == "navigate" else {
        throw HTTPError(.forbidden, "pages of another site may not send requests")
      }
    }
  }

  /// - Throws: ``HTTPError`` if a token is needed and missing or wrong.
  func checkToken(_ head: HTTPRequest, for access: Route.Access) throws(HTTPError) {
    guard needsToken(for: access), !token.isIn(head.headerFields[.authorization]) else { return }
    var error = HTTPError(.unauthorized, "the token is missing or wrong; send it as Authorization: Bearer TOKEN")
    error.headers[.wwwAuthenticate] = "Bearer realm=\"thumbjob\""
    throw error
  }

  func needsToken(for access: Route.Access) -> Bool {
    switch (reach, access) {
    case (.file, _), (_, .open), (.machine, .reads): false
    case (.machine, .changes), (.network, _): true
    }
  }

  /// Whether the name belongs to this server. The domain of an attacker, which may resolve to this machine, always contains
  /// a dot.
  private func isOwnName(_ name: String) -> Bool {
    if Self.isLoopback(name) || name == host.lowercased() { return true }
    return switch reach {
    case .file: !name.isEmpty && !name.contains(".") && !name.contains(":")
    case .machine: false
    case .network(let isWildcard): isWildcard && (Self.isNumeric(name) || name == Self.machineName)
    }
  }

  private static func isLoopback(_ name: String) -> Bool {
    name == "localhost" || name == "::1" || (name.hasPrefix("127.") && isNumeric(name))
  }

  /// Whether it is an IP address, which no name server can redirect.
  private static func isNumeric(_ name: String) -> Bool {
    if name.contains(":") { return true }  // it was in brackets, which only an address can be
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
  }

  /// The name in `name`, `name:port`, `[address]` or `[address]:port`; nil for anything else.
  private static func name(of authority: String) -> String? {
    let name: Substring
    let rest: Substring
    if authority.hasPrefix("[") {
      guard let end = authority.firstIndex(of: "]") else { return nil }
      (name, rest) = (authority[..<end].dropFirst(), authority[authority.index(after: end)...])
      guard name.utf8.allSatisfy({ "0123456789abcdef:.".utf8.contains($0) }) else { return nil }
    } else {
      name = authority.prefix { $0 != ":" }
      rest = authority[name.endIndex...]
    }
    let isPort = rest.hasPrefix(":") && rest.dropFirst().isDecimal
    return name.isEmpty || !(rest.isEmpty || isPort) ? nil : String(name)
  }

  private static let machineName: String = {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "" }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).lowercased()
  }()
}

extension HTTPField.Name {
  static let host = Self("Host")!
  static let fetchSite = Self("Sec-Fetch-Site")!
  static let fetchMode = Self("Sec-Fetch-Mode")!
}
#endif
