import Foundation
import Locking

/// The addresses that transfers may connect to.
final class AllowedAddresses: Sendable {
  private let allowsPrivate: Bool
  /// The proxies that the environment names: the user has chosen them. Their other ports are not theirs.
  private let proxies: Set<Proxy>
  /// Those that it names by name, and their ports.
  private let named: [(name: String, port: UInt16)]
  private let lookUp: @Sendable (String) -> [[UInt8]]
  private let looked = Locked(Looked())

  /// What the names of proxies mean. Guarded by its lock, which is not held while they are looked up.
  private struct Looked {
    /// The last results. libcurl may still connect to the older ones, which it keeps for a minute.
    var recent: [Set<Proxy>] = []
    /// When the next look-up is due; nil before the first has ended.
    var next: ContinuousClock.Instant?
  }

  private static let refresh = Duration.seconds(30)
  private static let resultsKept = 3

  private struct Proxy: Hashable {
    let address: [UInt8]
    let port: UInt16
  }

  /// - Parameter lookUp: the addresses of a name, in network order.
  init(
    allowsPrivate: Bool, environment: [String: String] = ProcessInfo.processInfo.environment,
    lookUp: @escaping @Sendable (String) -> [[UInt8]] = { AllowedAddresses.addresses(of: $0) }
  ) {
    (self.allowsPrivate, self.lookUp) = (allowsPrivate, lookUp)
    let names = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
    let places = allowsPrivate ? [] : Set(names.compactMap { environment[$0] })
    let told = places.compactMap(Self.hostAndPort).map { host, port in
      (host, port, literal: Self.addresses(of: host, isLiteral: true))
    }
    proxies = Set(told.flatMap { _, port, literal in literal.map { Proxy(address: $0, port: port) } })
    named = told.filter { $0.literal.isEmpty }.map { ($0.0, $0.1) }
  }

  /// Looks up the names of proxies, if that was not done for a while. It may block. The first callers all do so,
  /// because they need the answer; later only one does.
  func lookUpProxies(at now: ContinuousClock.Instant = .now) {
    guard !named.isEmpty else { return }
    let isDue = looked.withLock { looked in
      guard let next = looked.next else { return true }
      if now < next { return false }
      looked.next = now + Self.refresh
      return true
    }
    guard isDue else { return }
    let found = Set(named.flatMap { name, port in lookUp(name).map { Proxy(address: $0, port: port) } })
    looked.withLock { looked in
      looked.next = now + Self.refresh
      if !found.isEmpty { looked.recent = Array(([found] + looked.recent).prefix(Self.resultsKept)) }
    }
  }

  /// - Returns: nil if the address is allowed, otherwise its text.
  func refusal(of address: UnsafePointer<sockaddr>) -> String? {
    if allowsPrivate { return nil }
    let bytes = PublicAddresses.bytes(of: address)
    if PublicAddresses.isPublic(bytes) { return nil }
    let place = Proxy(address: bytes, port: Self.port(of: address))
    if proxies.contains(place) { return nil }
    let isNamed = looked.withLock { looked in
      if looked.recent.contains(where: { $0.contains(place) }) { return true }
      // The proxy may have got another address.
      looked.next = looked.next.map { min($0, .now + .seconds(1)) }
      return false
    }
    return isNamed ? nil : PublicAddresses.text(of: bytes)
  }

  /// The same for a URL with a literal address, which a proxy would connect to.
  func refusal(of url: RemoteURL) -> String? {
    if allowsPrivate { return nil }
    let bare = url.host.filter { $0 != "[" && $0 != "]" }
    // A last dot changes nothing, but the system would take it for a name.
    let host = bare.hasSuffix(".") ? String(bare.dropLast()) : bare
    let refused = Self.addresses(of: host, isLiteral: true).first { !PublicAddresses.isPublic($0) }
    return refused.map { PublicAddresses.text(of: $0) }
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
      entry?.pointee.ai_addr.map { PublicAddresses.bytes(of: $0) }
    }
  }
}
