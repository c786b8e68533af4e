import Thumbnails

/// A TIFF or BigTIFF structure in a file: a header and directories, whose offsets count from the header.
///
/// Nothing in it is trusted. What is not as the format demands is nil, and no request reads more than a little.
///
/// *Source*: TIFF 6.0, section 2; for BigTIFF, which has 64-bit offsets, the description in libtiff's documentation.
struct TIFFStructure {
  let file: FileBlocks
  /// The offset in the file from which the structure's offsets count.
  let base: UInt64
  let order: ByteOrder
  /// Whether it is a BigTIFF.
  var isBig = false
  /// The offset of the first directory.
  var firstDirectory: UInt64 = 0

  /// The number in the header that says what follows.
  enum Magic: UInt64 {
    case tiff = 42
    case bigTIFF = 43
    /// Olympus: `IIRO` or `MMOR`, and `IIRS`.
    case olympus = 0x4F52
    case olympusWithPreview = 0x5352
    /// Panasonic and Leica.
    case panasonic = 0x55
  }

  /// The most entries of a directory. Cameras and programs write up to three hundred.
  static let mostEntries: UInt64 = 4096

  /// A structure without a header of its own, such as a maker note.
  init(file: FileBlocks, base: UInt64, order: ByteOrder) {
    (self.file, self.base, self.order) = (file, base, order)
  }

  /// A structure that begins with a header; nil if there is none.
  init?(file: FileBlocks, at base: UInt64) throws(ThumbnailError) {
    guard let head = try file.bytes(at: base, count: 8, ahead: 16 << 10) else { return nil }
    switch (head[head.startIndex], head[head.startIndex + 1]) {
    case (0x49, 0x49): order = .littleEndian
    case (0x4D, 0x4D): order = .bigEndian
    default: return nil
    }
    (self.file, self.base) = (file, base)
    switch Magic(rawValue: order.number(head.dropFirst(2).prefix(2))) {
    case nil: return nil
    case .bigTIFF:
      isBig = true
      guard order.number(head.dropFirst(4).prefix(2)) == 8, order.number(head.dropFirst(6)) == 0,
        let offset = try number(at: 8, width: 8)
      else { return nil }
      firstDirectory = offset
    default: firstDirectory = order.number(head.dropFirst(4))
    }
  }

  /// The directory at an offset; nil if it is not inside the file, is empty, or has more than ``mostEntries`` entries.
  func directory(at offset: UInt64) throws(ThumbnailError) -> TIFFDirectory? {
    let (countWidth, entrySize, offsetWidth) = isBig ? (8, 20, 8) : (2, 12, 4)
    guard let count = try number(at: offset, width: countWidth), (1...Self.mostEntries).contains(count),
      let start = place(offset),
      let bytes = try file.bytes(at: start + UInt64(countWidth), count: Int(count) * entrySize)
    else { return nil }
    var entries: [UInt16: TIFFDirectory.Entry] = [:]
    var isCut = false
    for index in 0..<Int(count) {
      let entry = bytes.dropFirst(index * entrySize).prefix(entrySize)
      let tag = UInt16(order.number(entry.prefix(2)))
      let type = Int(order.number(entry.dropFirst(2).prefix(2)))
      let values = order.number(entry.dropFirst(4).prefix(offsetWidth))
      let (size, isTooLarge) = values.multipliedReportingOverflow(by: UInt64(TIFFDirectory.width(of: type)))
      // A type that is not known has values that are not known. Of several entries with one tag the first counts.
      guard !isTooLarge, size > 0, entries[tag] == nil else { continue }
      let field = entry.dropFirst(4 + offsetWidth)
      let inside = start + UInt64(countWidth + index * entrySize + 4 + offsetWidth)
      guard let value = size <= offsetWidth ? inside : place(order.number(field)), size <= file.size - value else {
        isCut = true
        continue
      }
      entries[tag] = TIFFDirectory.Entry(type: type, count: values, place: value, size: size)
    }
    let end = offset + UInt64(countWidth) + count * UInt64(entrySize)
    return TIFFDirectory(
      structure: self, offset: offset, entries: entries, isCut: isCut,
      next: try number(at: end, width: offsetWidth) ?? 0)
  }

  /// Whether the file ends before or within the directory at an offset.
  func endsBeforeDirectory(at offset: UInt64) throws(ThumbnailError) -> Bool {
    guard let start = place(offset), let count = try number(at: offset, width: isBig ? 8 : 2) else { return true }
    // A larger count is not true.
    return count <= Self.mostEntries && file.size - start < (isBig ? 8 : 2) + count * (isBig ? 20 : 12)
  }

  /// The place in the file of an offset of this structure.
  func place(_ offset: UInt64) -> UInt64? {
    let (place, isTooLarge) = base.addingReportingOverflow(offset)
    return isTooLarge || place >= file.size ? nil : place
  }

  private func number(at offset: UInt64, width: Int) throws(ThumbnailError) -> UInt64? {
    guard let place = place(offset), let bytes = try file.bytes(at: place, count: width) else { return nil }
    return order.number(bytes)
  }
}

/// One directory of a TIFF structure (image file directory, IFD): tags and their values, which are mostly elsewhere.
struct TIFFDirectory {
  let structure: TIFFStructure
  /// Where it begins, counted as all offsets of the structure.
  let offset: UInt64
  let entries: [UInt16: Entry]
  /// Whether there are more entries, with values that are outside the file.
  let isCut: Bool
  /// The offset of the next directory; 0 if there is none.
  let next: UInt64

  struct Entry {
    let type: Int
    /// The count of values.
    let count: UInt64
    /// Where the values begin in the file. All of them are inside it.
    let place: UInt64
    /// The bytes of all values.
    let size: UInt64
  }

  /// The bytes of a value of a type; 0 if the type is not known.
  static func width(of type: Int) -> Int {
    switch type {
    case 1, 2, 6, 7: 1  // BYTE, ASCII, SBYTE, UNDEFINED
    case 3, 8: 2  // SHORT, SSHORT
    case 4, 9, 11, 13: 4  // LONG, SLONG, FLOAT, IFD
    case 5, 10, 12, 16, 17, 18: 8  // RATIONAL, SRATIONAL, DOUBLE, LONG8, SLONG8, IFD8
    default: 0
    }
  }

  /// The values of a tag, if they are integers: at most so many. Empty if there is no such tag, if its values are outside
  /// the file, or if one is negative.
  func integers(_ tag: TIFFTag, atMost most: Int = 1) throws(ThumbnailError) -> [UInt64] {
    guard let entry = entries[tag.rawValue] else { return [] }
    let (isInteger, isSigned) = Self.kind(of: entry.type)
    let width = Self.width(of: entry.type)
    let count = Int(min(UInt64(most), entry.count))
    guard isInteger, let bytes = try structure.file.bytes(at: entry.place, count: count * width) else { return [] }
    let values = (0..<count).map { structure.order.number(bytes.dropFirst($0 * width).prefix(width)) }
    if isSigned, values.contains(where: { $0 >> (8 * width - 1) != 0 }) { return [] }
    return values
  }

  /// The first value of a tag, if it is an integer.
  func integer(_ tag: TIFFTag) throws(ThumbnailError) -> UInt64? { try integers(tag).first }

  /// The beginning of a text.
  func text(_ tag: TIFFTag) throws(ThumbnailError) -> String? {
    guard let entry = entries[tag.rawValue], entry.type == 2,
      let bytes = try structure.file.bytes(at: entry.place, count: Int(min(entry.size, 64)))
    else { return nil }
    return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }

  /// Where the values of a tag are in the file.
  func extent(_ tag: TIFFTag) -> FileExtent? {
    entries[tag.rawValue].map { FileExtent(offset: $0.place, size: $0.size) }
  }

  func has(_ tag: TIFFTag) -> Bool { entries[tag.rawValue] != nil }

  private static func kind(of type: Int) -> (isInteger: Bool, isSigned: Bool) {
    switch type {
    case 1, 3, 4, 13, 16, 18: (true, false)
    case 6, 8, 9, 17: (true, true)
    default: (false, false)
    }
  }
}
