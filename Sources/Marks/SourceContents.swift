import Files

/// Identifies the contents of a source in the marks of its thumbnails: a hash of its size, and one of its first and last
/// bytes.
///
/// The modification time alone does not: two photos of one time may trade their names, and a copy may keep the time of
/// the file that it replaces.
package struct SourceContents: Sendable, Hashable {
  /// The number of digits in a mark.
  package static let length = Fingerprint.length
  /// How many bytes are read at each end. The last ones of a photo are compressed, so no two photos share them.
  package static let endSize = 4096

  private let sizeHash: UInt32
  private let endsHash: UInt32

  /// - Parameters:
  ///   - size: the size of the file in bytes.
  ///   - ends: its first and its last ``endSize`` bytes.
  package init(size: Int, ends: some Sequence<UInt8>) {
    sizeHash = Self.hash(size)
    endsHash = Fingerprint(of: ends).folded
  }

  /// Reads the digits of a mark; nil if they are not those of contents.
  package init?(digits: some Collection<UInt8>) {
    guard let both = Fingerprint(digits: digits) else { return nil }
    (sizeHash, endsHash) = (UInt32(both.hash >> 32), UInt32(truncatingIfNeeded: both.hash))
  }

  package var digits: [UInt8] { Fingerprint(hash: UInt64(sizeHash) << 32 | UInt64(endsHash)).digits }

  /// Whether a file of this size may have these contents.
  package func mayHave(size: Int) -> Bool { sizeHash == Self.hash(size) }

  private static func hash(_ size: Int) -> UInt32 {
    Fingerprint(of: (0..<8).map { UInt8(truncatingIfNeeded: size >> (8 * $0)) }).folded
  }
}
