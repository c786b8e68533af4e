import Foundation

/// The addresses that transfers may connect to.
struct AllowedAddresses: Sendable {
  private let allowsPrivate: Bool
  /// The proxies that the environment names: the user has chosen them. Their other ports are not theirs.
  private let proxies: Set<Proxy>

  private struct Proxy: Hashable {
    let address: [UInt8]
    let port: UInt16
  }

  init(allowsPrivate: Bool, environment: [String: String] = ProcessInfo.processInfo.environment) {
    self.allowsPrivate = allowsPrivate
    let names = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
    let places = allowsPrivate ? [] : Set(names.compactMap { environment[$0] })
    proxies = Set(
      places.compactMap(Self.hostAndPort).flatMap { host, port in
        Self.addresses(of: host).map { Proxy(address: $0, port: port) }
      })
  }

  /// - Returns: nil if the address is allowed, otherwise its text.
  func refusal(of address: UnsafePointer<sockaddr>) -> String? {
    if allowsPrivate { return nil }
    let bytes = AddressRules.bytes(of: address)
    let isAllowed =
      AddressRules.isPublic(bytes) || proxies.contains(Proxy(address: bytes, port: Self.port(of: address)))
    return isAllowed ? nil : AddressRules.text(of: bytes)
  }

  /// The same for a URL with a literal address, which a proxy would connect to.
  func refusal(of url: RemoteURL) -> String? {
    if allowsPrivate { return nil }
    let bare = url.host.filter { $0 != "[" && $0 != "]" }
    // A last dot changes nothing, but the system would take it for a name.
    let host = bare.hasSuffix(".") ? String(bare.dropLast()) : bare
    let refused = Self.addresses(of: host, isLiteral: true).first { !AddressRules.isPublic($0) }
    return refused.map { AddressRules.text(of: $0) }
  }

  /// The port is at the same place in addresses of IPv4 and IPv6.
  private static func port(of address: UnsafePointer<sockaddr>) -> UInt16 {
    address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { UInt16(bigEndian: $0.pointee.sin_port) }
  }

  /// - Returns: nil if the text names no proxy. Without a port it is 1080, and for https 443, as libcurl has it.
  private static func hostAndPort(of proxy: String) -> (String, UInt16)? {
    let rest = proxy.range(of: "://").map { proxy[$0.upperBound...] } ?? proxy[...]
    let authority = rest.prefix { $0 != "/" }
    let place = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
    let host = place.hasPrefix("[") ? place.dropFirst().prefix { $0 != "]" } : place.prefix { $0 != ":" }
    let end = place[host.endIndex...].drop { $0 == "]" }
    let usual: UInt16 = proxy.lowercased().hasPrefix("https://") ? 443 : 1080
    return host.isEmpty ? nil : (String(host), end.hasPrefix(":") ? UInt16(end.dropFirst()) ?? usual : usual)
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
