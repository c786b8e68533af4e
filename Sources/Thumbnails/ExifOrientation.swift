/// Finds the orientation in an EXIF block without decoding the rest of it.
///
/// Every source's block is looked at, so this reader is small, bounded by the block and written in Swift; libexif is
/// asked only where EXIF is to be kept. A block that makes no sense has no orientation: that is never an error.
///
/// Source: Exif 2.32 (CIPA DC-008), 4.5 "Description of image data file structure"; TIFF 6.0, section 2.
struct ExifOrientation {
  private let block: UnsafeBufferPointer<UInt8>
  private let bigEndian: Bool

  /// The orientation told in IFD 0, or `upright`.
  ///
  /// - parameter block: the TIFF structure behind "Exif\0\0".
  static func read(_ block: UnsafeBufferPointer<UInt8>) -> Orientation {
    guard block.count >= 8 else { return .upright }
    let order = (block[0], block[1])
    guard order == (0x49, 0x49) || order == (0x4D, 0x4D) else { return .upright }
    let reader = ExifOrientation(block: block, bigEndian: order.0 == 0x4D)
    return reader.orientation ?? .upright
  }

  private var orientation: Orientation? {
    guard word(at: 2) == 42, let directory = long(at: 4), let count = word(at: directory) else { return nil }
    for index in 0..<count {
      let entry = directory + 2 + index * 12
      guard let tag = word(at: entry) else { return nil }
      guard tag == 0x0112 else { continue }
      let short = 3
      let long = 4
      guard let type = word(at: entry + 2) else { return nil }
      let value = type == short ? word(at: entry + 8) : type == long ? self.long(at: entry + 8) : nil
      return value.flatMap(Orientation.init(rawValue:))
    }
    return nil
  }

  private func word(at offset: Int) -> Int? {
    guard offset >= 0, offset + 2 <= block.count else { return nil }
    let first = Int(block[offset])
    let second = Int(block[offset + 1])
    return bigEndian ? first << 8 | second : second << 8 | first
  }

  private func long(at offset: Int) -> Int? {
    guard let first = word(at: offset), let second = word(at: offset + 2) else { return nil }
    return bigEndian ? first << 16 | second : second << 16 | first
  }
}
