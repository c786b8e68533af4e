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
    proxies = allowsPrivate ? [] : Set(hosts.flatMap(Self.addresses))
  }

  /// - Returns: nil if the address is allowed, otherwise its text.
  func refusal(of address: UnsafePointer<sockaddr>) -> String? {
    if allowsPrivate { return nil }
    let bytes = AddressRules.bytes(of: address)
    return AddressRules.isPublic(bytes) || proxies.contains(bytes) ? nil : AddressRules.text(of: bytes)
  }

  /// The same for a URL with a literal address, which a proxy would connect to.
  func refusal(of url: RemoteURL) -> String? {
    let host = url.host.filter { $0 != "[" && $0 != "]" }
    if allowsPrivate { return nil }
    for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
      var bytes = [UInt8](repeating: 0, count: count)
      if inet_pton(family, host, &bytes) == 1 { return AddressRules.isPublic(bytes) ? nil : host }
    }
    return nil
  }

  private static func host(of proxy: String) -> String? {
    let rest = proxy.range(of: "://").map { proxy[$0.upperBound...] } ?? proxy[...]
    let authority = rest.prefix { $0 != "/" }
    let place = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
    let host = place.hasPrefix("[") ? place.dropFirst().prefix { $0 != "]" } : place.prefix { $0 != ":" }
    return host.isEmpty ? nil : String(host)
  }

  private static func addresses(of host: String) -> [[UInt8]] {
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, nil, nil, &list) == 0 else { return [] }
    defer { freeaddrinfo(list) }
    return sequence(first: list) { $0?.pointee.ai_next }.prefix { $0 != nil }.compactMap { entry in
      entry?.pointee.ai_addr.map { AddressRules.bytes(of: $0) }
    }
  }
}
