import Files

/// One machine's share of the sources of a job that several machines do together.
///
/// Without lists, each machine walks all sources and makes those whose relative path falls into its share. The path below
/// the tree decides, so it does not matter where a machine has mounted the sources. The share of a source never changes:
/// the hash must stay as it is.
package struct Shard: Sendable, Hashable, CustomStringConvertible {
  /// The most shares, and the most lists of a split.
  package static let counts = 1...100_000

  /// From 0.
  package let index: Int
  package let count: Int
  /// Whether the share is a list of a split, all of whose entries belong to it.
  package let isList: Bool

  /// - Parameter index: in `0..<count`.
  package init(_ index: Int, of count: Int, isList: Bool = false) {
    precondition((0..<count).contains(index), "a share is one of its job")
    (self.index, self.count, self.isList) = (index, count, isList)
  }

  package var description: String { "\(index)/\(count)" }

  /// Its name in the names of files.
  package var part: String { "\(index)-of-\(count)" }

  package func contains(_ relativePath: Path) -> Bool {
    isList || count == 1 || Self.index(of: Self.hash(relativePath), among: count) == index
  }

  /// A hash of 64 bits whose every bit depends on all bytes of the path.
  package static func hash(_ relativePath: Path) -> UInt64 { mixed(Fingerprint(of: relativePath.bytes).hash) }

  /// One of `count` equal ranges of hashes.
  package static func index(of hash: UInt64, among count: Int) -> Int {
    Int(hash.multipliedFullWidth(by: UInt64(count)).high)
  }

  /// Spreads the bits of a number, because the high bits of FNV-1a hardly depend on the last bytes.
  ///
  /// *Source*: the finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
  package static func mixed(_ number: UInt64) -> UInt64 {
    var bits = number
    bits = (bits ^ bits >> 30) &* 0xbf58_476d_1ce4_e5b9
    bits = (bits ^ bits >> 27) &* 0x94d0_49bb_1331_11eb
    return bits ^ bits >> 31
  }
}
