/// Reads numbers in EXIF's TIFF structure, and never outside its bounds.
///
/// Source: TIFF 6.0, section 2.
struct TIFFReader {
  /// The bytes of an entry: tag, type, count, and the value or its offset.
  static let entrySize = 12

  private let block: UnsafeBufferPointer<UInt8>
  private let bigEndian: Bool

  /// Nil if the block does not begin with a TIFF header.
  ///
  /// - parameter block: the TIFF structure after "Exif\0\0".
  init?(_ block: UnsafeBufferPointer<UInt8>) {
    guard block.count >= 8 else { return nil }
    let order = (block[0], block[1])
    guard order == (0x49, 0x49) || order == (0x4D, 0x4D) else { return nil }
    self.block = block
    bigEndian = order.0 == 0x4D
    guard word(at: 2) == 42 else { return nil }
  }

  /// The offset of the first directory.
  var firstDirectory: Int? { long(at: 4) }

  func word(at offset: Int) -> Int? {
    guard offset >= 0, offset + 2 <= block.count else { return nil }
    let first = Int(block[offset])
    let second = Int(block[offset + 1])
    return bigEndian ? first << 8 | second : second << 8 | first
  }

  func long(at offset: Int) -> Int? {
    guard let first = word(at: offset), let second = word(at: offset + 2) else { return nil }
    return bigEndian ? first << 16 | second : second << 16 | first
  }

  /// Whether the directories are as a camera writes them: each is referred to once, and together they have at most
  /// `limit` entries. libexif follows every pointer, and takes seconds for a block whose thousands of entries all point
  /// back.
  func isPlain(limit: Int) -> Bool {
    var ahead = [firstDirectory].compactMap { $0 }
    var seen: Set<Int> = []
    var entries = 0
    while let directory = ahead.popLast() {
      // A directory outside the block costs no time.
      guard let count = word(at: directory) else { continue }
      entries += count
      guard seen.insert(directory).inserted, entries <= limit else { return false }
      for index in 0..<count {
        let entry = directory + 2 + index * Self.entrySize
        // These tags point to the Exif, GPS and interoperability directories.
        guard let tag = word(at: entry), [0x8769, 0x8825, 0xA005].contains(tag) else { continue }
        if let inner = long(at: entry + 8) { ahead.append(inner) }
      }
      if let next = long(at: directory + 2 + count * Self.entrySize), next != 0 { ahead.append(next) }
    }
    return true
  }
}
