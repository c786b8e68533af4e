/// Lookup tables that decode an AC symbol together with its coefficient's value.
///
/// An entry describes the symbol that the bits of its index begin with:
///
/// | bits | |
/// | --- | --- |
/// | 0-15 | the value of the coefficient; with `isTooLong`, its size (SSSS) |
/// | 16-20 | the length of the code with the additional bits; 0 if not even the code fits |
/// | 21-27 | the coefficients it passes, with its own: at most 16; or 64 for a symbol without a value |
/// | 31 | `isTooLong` |
struct ValueTables {
  static let lookupBits = 12
  /// Set if the symbol with its additional bits is longer than the index.
  static let isTooLong: UInt32 = 1 << 31

  /// The tables of the components, one after the other.
  let entries: [UInt32]

  init(_ codes: [HuffmanCode]) {
    entries = codes.flatMap { code in
      code.lookup(bits: Self.lookupBits).enumerated().map { index, entry in
        let (length, run, size) = (Int(entry & 31), Int(entry >> 12), Int(entry >> 8 & 15))
        guard length > 0 else { return Self.isTooLong }
        guard length + size <= Self.lookupBits else {
          return Self.isTooLong | Self.entry(Int32(size), run: run, size: size, length: length + size)
        }
        let value = HuffmanCode.value(UInt64(index) << UInt64(64 - Self.lookupBits + length), size)
        return Self.entry(value, run: run, size: size, length: length + size)
      }
    }
  }

  /// - parameter value: of the coefficient.
  @inline(__always)
  static func entry(_ value: Int32, run: Int, size: Int, length: Int) -> UInt32 {
    UInt32(UInt16(truncatingIfNeeded: value)) | UInt32(length) << 16 | UInt32(size == 0 ? 64 : run + 1) << 21
  }
}
