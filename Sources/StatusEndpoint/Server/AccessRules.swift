import Foundation
import HTTPTypes

/// Who may ask for what: by which name a request calls the server, from which page it comes, and with which token.
struct AccessRules: Sendable {
  /// Through which kind of socket requests come.
  enum Reach: Sendable, Equatable {
    /// A unix socket: its file lets in whoever may.
    case file
    /// TCP on this machine.
    case machine
    /// TCP from elsewhere; by any address of the machine where it is bound to all.
    case network(isWildcard: Bool)
  }

  let reach: Reach
  /// The host that was asked for with the address.
  let host: String
  let token: AccessToken

  /// - Throws: ``HTTPProblem`` where a page of another site may be behind the request.
  func checkOrigin(_ head: HTTPRequest, isPage: Bool) throws(HTTPProblem) {
    let authority = head.authority?.lowercased()
    guard let authority, let name = Self.name(of: authority), isOwnName(name) else {
      throw HTTPProblem(.forbidden, "the Host header names another server; use the address that thumbjob has printed")
    }
    let fields = head.headerFields
    if let origin = fields[.origin] {
      guard origin == "http://\(authority)" || origin == "https://\(authority)" else {
        throw HTTPProblem(.forbidden, "a page of another origin may not ask")
      }
    }
    switch fields[.fetchSite] {
    case nil, "same-origin", "none": break
    default:
      // Following a link to the page is all that another site can do.
      guard isPage, fields[.fetchMode] == "navigate" else {
        throw HTTPProblem(.forbidden, "a page of another site may not ask")
      }
    }
  }

  /// - Throws: ``HTTPProblem`` where a token is needed and not there.
  func checkToken(_ head: HTTPRequest, for access: Route.Access) throws(HTTPProblem) {
    let isNeeded =
      switch (reach, access) {
      case (.file, _), (_, .open), (.machine, .reads): false
      case (.machine, .changes), (.network, _): true
      }
    guard isNeeded, !token.isIn(head.headerFields[.authorization]) else { return }
    var problem = HTTPProblem(.unauthorized, "the token is missing or wrong; send it as Authorization: Bearer TOKEN")
    problem.headers[.wwwAuthenticate] = "Bearer realm=\"thumbjob\""
    throw problem
  }

  /// Whether the server may be called so. A name of an attacker's own, which can be made to lead here, always has a dot.
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

  /// Whether it is an IP address, which no name server can lead elsewhere.
  private static func isNumeric(_ name: String) -> Bool {
    if name.contains(":") { return true }  // stood in brackets, of which only an address can
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
  }

  /// The name in `name`, `name:port`, `[address]` or `[address]:port`; nil where it is anything else.
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
  static let fetchSite = Self("Sec-Fetch-Site")!
  static let fetchMode = Self("Sec-Fetch-Mode")!
}
