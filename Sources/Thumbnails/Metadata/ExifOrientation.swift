/// Finds the orientation in an EXIF block without decoding the rest of it.
///
/// The block of every source is read, so this reader is small, stays within the block and is written in Swift. libexif
/// is used only if EXIF is kept. A faulty block is never an error; its picture counts as upright.
///
/// Source: Exif 2.32 (CIPA DC-008), 4.6.2 "IFD Structure"; TIFF 6.0, section 2.
package enum ExifOrientation {
  /// The orientation in IFD 0, or `upright`.
  ///
  /// - parameter block: the TIFF structure after "Exif\0\0".
  package static func read(_ block: UnsafeBufferPointer<UInt8>) -> Orientation {
    TIFFReader(block).flatMap(orientation) ?? .upright
  }

  private static func orientation(_ reader: TIFFReader) -> Orientation? {
    guard let directory = reader.firstDirectory, let count = reader.word(at: directory) else { return nil }
    for index in 0..<count {
      let entry = directory + 2 + index * TIFFReader.entrySize
      guard let tag = reader.word(at: entry) else { return nil }
      guard tag == 0x0112 else { continue }
      let (short, long, slong) = (3, 4, 9)
      guard let type = reader.word(at: entry + 2) else { return nil }
      let value =
        type == short
        ? reader.word(at: entry + 8) : type == long || type == slong ? reader.long(at: entry + 8) : nil
      return value.flatMap(Orientation.init(rawValue:))
    }
    return nil
  }
}
