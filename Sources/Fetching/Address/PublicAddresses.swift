import Foundation

/// Which addresses are public: those that IANA's registries of special addresses leave for everyone.
///
/// *Source*: the IANA registries of special-purpose IPv4 and IPv6 addresses (RFC 6890), and of multicast addresses.
struct PublicAddresses {
  /// A range of addresses: their first bits.
  private struct Range {
    let bytes: [UInt8]
    let bits: Int

    init(_ bytes: [UInt8], _ bits: Int) { (self.bytes, self.bits) = (bytes, bits) }

    func contains(_ address: [UInt8]) -> Bool {
      for index in 0..<(bits + 7) / 8 {
        let mask = UInt8(truncatingIfNeeded: 0xFF00 >> min(8, bits - 8 * index))
        if (bytes.indices.contains(index) ? bytes[index] : 0) & mask != address[index] & mask { return false }
      }
      return true
    }
  }

  private static let specialIPv4 = [
    Range([0], 8), Range([10], 8), Range([100, 64], 10), Range([127], 8), Range([169, 254], 16), Range([172, 16], 12),
    Range([192, 0, 0], 24), Range([192, 0, 2], 24), Range([192, 88, 99], 24), Range([192, 168], 16),
    Range([198, 18], 15),
    Range([198, 51, 100], 24), Range([203, 0, 113], 24), Range([224], 4), Range([240], 4),
    // Public, but a virtual machine in Azure reaches the metadata service of its host there.
    Range([168, 63, 129, 16], 32),
  ]

  /// Ranges of IPv6 in which an IPv4 address begins at a byte.
  private static let embedding: [(range: Range, at: Int)] = [
    (Range([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], 96), 12),  // IPv4-mapped
    (Range([0x00, 0x64, 0xFF, 0x9B], 96), 12),  // NAT64
    (Range([0x20, 0x02], 16), 2),  // 6to4
  ]

  /// All public addresses of IPv6 so far are in 2000::/3. These ranges in it are not.
  private static let specialIPv6 = [
    Range([0x20, 0x01, 0x00], 23), Range([0x20, 0x01, 0x0D, 0xB8], 32), Range([0x3F, 0xFF], 20),
  ]

  /// Whether an address is public.
  ///
  /// - Parameter bytes: 4 bytes of IPv4 or 16 of IPv6, in network order.
  static func isPublic(_ bytes: [UInt8]) -> Bool {
    if bytes.count == 4 { return !specialIPv4.contains { $0.contains(bytes) } }
    guard bytes.count == 16 else { return false }
    if let (_, start) = embedding.first(where: { $0.range.contains(bytes) }) {
      return isPublic(Array(bytes[start..<start + 4]))
    }
    return bytes[0] >> 5 == 1 && !specialIPv6.contains { $0.contains(bytes) }
  }

  /// The bytes of an address in network order; empty for one that is neither IPv4 nor IPv6.
  static func bytes(of address: UnsafePointer<sockaddr>) -> [UInt8] {
    switch Int32(address.pointee.sa_family) {
    case AF_INET:
      address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { pointer in
        withUnsafeBytes(of: pointer.pointee.sin_addr) { Array($0) }
      }
    case AF_INET6:
      address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
        withUnsafeBytes(of: pointer.pointee.sin6_addr) { Array($0) }
      }
    default: []
    }
  }

  /// The address as text, such as `10.0.0.3`.
  static func text(of bytes: [UInt8]) -> String {
    var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    guard bytes.count == 4 || bytes.count == 16,
      inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &buffer, socklen_t(buffer.count)) != nil
    else { return "an address of an unknown kind" }
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
