import Foundation

/// The addresses that transfers may connect to.
struct AllowedAddresses: Sendable {
  private let allowsPrivate: Bool
  /// The addresses of the proxies that the environment names: the user has chosen them.
  private let proxies: Set<[UInt8]>

  init(allowsPrivate: Bool, environment: [String: String] = ProcessInfo.processInfo.environment) {
    self.allowsPrivate = allowsPrivate
    let names = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
    let hosts = Set(names.compactMap { environment[$0] }.compactMap(Self.host))
    proxies = allowsPrivate ? [] : Set(hosts.flatMap { Self.addresses(of: $0) })
  }

  /// - Returns: nil if the address is allowed, otherwise its text.
  func refusal(of address: UnsafePointer<sockaddr>) -> String? {
    if allowsPrivate { return nil }
    let bytes = AddressRules.bytes(of: address)
    return AddressRules.isPublic(bytes) || proxies.contains(bytes) ? nil : AddressRules.text(of: bytes)
  }

  /// The same for a URL with a literal address, which a proxy would connect to.
  func refusal(of url: RemoteURL) -> String? {
    if allowsPrivate { return nil }
    let host = url.host.filter { $0 != "[" && $0 != "]" }
    let refused = Self.addresses(of: host, isLiteral: true).first { !AddressRules.isPublic($0) }
    return refused.map { AddressRules.text(of: $0) }
  }

  private static func host(of proxy: String) -> String? {
    let rest = proxy.range(of: "://").map { proxy[$0.upperBound...] } ?? proxy[...]
    let authority = rest.prefix { $0 != "/" }
    let place = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
    let host = place.hasPrefix("[") ? place.dropFirst().prefix { $0 != "]" } : place.prefix { $0 != ":" }
    return host.isEmpty ? nil : String(host)
  }

  /// - Parameter isLiteral: whether only a literal address counts, in any form that the system reads, such as `0x7f.1`.
  private static func addresses(of host: String, isLiteral: Bool = false) -> [[UInt8]] {
    var list: UnsafeMutablePointer<addrinfo>?
    var hints = addrinfo()
    (hints.ai_flags, hints.ai_socktype) = (isLiteral ? AI_NUMERICHOST : 0, Int32(SOCK_STREAM.rawValue))
    guard getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
    defer { freeaddrinfo(list) }
    return sequence(first: list) { $0?.pointee.ai_next }.prefix { $0 != nil }.compactMap { entry in
      entry?.pointee.ai_addr.map { AddressRules.bytes(of: $0) }
    }
  }
}
