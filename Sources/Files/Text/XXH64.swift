/// A hash of 64 bits over very many bytes, ten times as fast as ``Fingerprint``: XXH64 with seed 0.
///
/// It is not cryptographic: use it where a collision does no harm.
///
/// *Source*: the specification of XXH64 (Yann Collet, github.com/Cyan4973/xxHash, doc/xxhash_spec.md).
package struct XXH64: Sendable {
  private static let primes: (UInt64, UInt64, UInt64, UInt64, UInt64) = (
    0x9E37_79B1_85EB_CA87, 0xC2B2_AE3D_27D4_EB4F, 0x1656_67B1_9E37_79F9, 0x85EB_CA77_C2B2_AE63, 0x27D4_EB2F_1656_67C5
  )
  /// The bytes that are hashed together.
  private static let stripe = 32

  private var lanes = SIMD4<UInt64>(Self.primes.0 &+ Self.primes.1, Self.primes.1, 0, 0 &- Self.primes.0)
  private var count = 0
  /// The bytes since the last whole stripe.
  private var rest: [UInt8] = []

  package init() { rest.reserveCapacity(Self.stripe) }

  package mutating func append(_ bytes: UnsafeRawBufferPointer) {
    count += bytes.count
    var bytes = bytes[...]
    if !rest.isEmpty {
      let missing = bytes.prefix(Self.stripe - rest.count)
      rest += missing
      bytes = bytes.dropFirst(missing.count)
      guard rest.count == Self.stripe else { return }
      rest.withUnsafeBytes { mix($0) }
      rest.removeAll(keepingCapacity: true)
    }
    let whole = bytes.count / Self.stripe * Self.stripe
    mix(UnsafeRawBufferPointer(rebasing: bytes.prefix(whole)))
    rest += bytes.dropFirst(whole)
  }

  /// Mixes whole stripes into the lanes.
  private mutating func mix(_ bytes: UnsafeRawBufferPointer) {
    var (a, b, c, d) = (lanes[0], lanes[1], lanes[2], lanes[3])
    var offset = 0
    while offset < bytes.count {
      a = Self.round(a, Self.word(bytes, offset))
      b = Self.round(b, Self.word(bytes, offset + 8))
      c = Self.round(c, Self.word(bytes, offset + 16))
      d = Self.round(d, Self.word(bytes, offset + 24))
      offset += Self.stripe
    }
    lanes = SIMD4(a, b, c, d)
  }

  /// The hash of all bytes so far.
  package var hash: UInt64 {
    let primes = Self.primes
    var hash = primes.4
    if count >= Self.stripe {
      hash =
        Self.rotated(lanes[0], 1) &+ Self.rotated(lanes[1], 7) &+ Self.rotated(lanes[2], 12)
        &+ Self.rotated(lanes[3], 18)
      for lane in 0..<4 { hash = (hash ^ Self.round(0, lanes[lane])) &* primes.0 &+ primes.3 }
    }
    hash &+= UInt64(count)
    rest.withUnsafeBytes { bytes in
      var offset = 0
      while offset + 8 <= bytes.count {
        hash = Self.rotated(hash ^ Self.round(0, Self.word(bytes, offset)), 27) &* primes.0 &+ primes.3
        offset += 8
      }
      if offset + 4 <= bytes.count {
        let half = UInt64(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
        hash = Self.rotated(hash ^ half &* primes.0, 23) &* primes.1 &+ primes.2
        offset += 4
      }
      for byte in bytes[offset...] { hash = Self.rotated(hash ^ UInt64(byte) &* primes.4, 11) &* primes.0 }
    }
    hash = (hash ^ hash >> 33) &* primes.1
    hash = (hash ^ hash >> 29) &* primes.2
    return hash ^ hash >> 32
  }

  private static func round(_ lane: UInt64, _ word: UInt64) -> UInt64 {
    rotated(lane &+ word &* primes.1, 31) &* primes.0
  }

  private static func rotated(_ word: UInt64, _ bits: UInt64) -> UInt64 { word << bits | word >> (64 - bits) }

  private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}
