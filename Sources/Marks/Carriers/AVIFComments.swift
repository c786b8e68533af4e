/// Boxes `uuid` of our own after the box `ftyp`, which must come first. The box `meta` after them has the places of all items in
/// the file, which move with them.
///
/// *Source*: ISO/IEC 14496-12, 4.2 (boxes), 4.3 (ftyp) and 8.11.3 (iloc); ISO/IEC 23000-22 (MIAF).
enum AVIFComments: CommentCarrier {
  /// Random, as RFC 9562 wants it (version 4).
  private static let identifier: [UInt8] = [
    0x3D, 0x5A, 0xC1, 0x0E, 0x84, 0x6B, 0x4F, 0x27, 0x9B, 0x11, 0x62, 0xD8, 0xF4, 0x0A, 0x7E, 0x93,
  ]
  private static let name = Array("uuid".utf8)

  /// `ftyp` with eight brands.
  static let longestStart = 16 + 8 * 4
  static let overhead = 8 + 16

  static func start(in head: ArraySlice<UInt8>) -> Int? {
    guard head.dropFirst(4).starts(with: "ftypavif".utf8), let size = head.bigEndian(at: 0, count: 4),
      (16...longestStart).contains(size)
    else { return nil }
    return size
  }

  static func comment(_ text: [UInt8]) -> [UInt8] {
    .bigEndian(overhead + text.count) + name + identifier + text
  }

  static func comment(at bytes: ArraySlice<UInt8>) -> (text: ArraySlice<UInt8>, size: Int)? {
    guard let size = bytes.bigEndian(at: 0, count: 4), size >= overhead, bytes.count >= size,
      bytes.dropFirst(4).starts(with: name + identifier)
    else { return nil }
    return (bytes.dropFirst(overhead).prefix(size - overhead), size)
  }

  static func adjust(_ file: inout [UInt8], at place: Int, by count: Int) {
    var edits: [(place: Int, offset: Int)] = []
    collectEdits(in: file, place, count, &edits)
    // Afterwards, because nothing else shares the bytes then.
    for edit in edits { file.replaceSubrange(edit.place..<edit.place + 4, with: [UInt8].bigEndian(edit.offset)) }
  }

  private static func collectEdits(
    in file: [UInt8], _ place: Int, _ count: Int, _ edits: inout [(place: Int, offset: Int)]
  ) {
    var outer = Boxes(file.indices)
    while let meta = outer.next(in: file) {
      guard meta.name == "meta" else { continue }
      // It has a version and flags before its boxes.
      var inner = Boxes(meta.contents.dropFirst(4))
      while let box = inner.next(in: file) {
        if box.name == "iloc" { move(in: file, box.contents, place, count, &edits) }
      }
    }
  }

  /// Adds to the offsets of all extents that begin at a place or later. It stops at what libavif does not write.
  private static func move(
    in file: [UInt8], _ contents: Range<Int>, _ place: Int, _ count: Int, _ edits: inout [(place: Int, offset: Int)]
  ) {
    var reader = Fields(file[contents])
    guard let version = reader.take(1), version <= 1, reader.take(3) != nil, let sizes = reader.take(2),
      let items = reader.take(2)
    else { return }
    let (offsetSize, lengthSize, baseSize) = (sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15)
    guard offsetSize == 4, baseSize == 0, lengthSize <= 8, sizes & 15 == 0 else { return }
    for _ in 0..<items {
      guard reader.take(2) != nil, version == 0 || reader.take(2) == 0, reader.take(2) != nil,
        let extents = reader.take(2)
      else { return }
      for _ in 0..<extents {
        let start = reader.place
        guard let offset = reader.take(4), reader.take(lengthSize) != nil else { return }
        if offset >= place { edits.append((start, offset + count)) }
      }
    }
  }

  /// Numbers in a box, one after the other.
  private struct Fields {
    private let bytes: ArraySlice<UInt8>
    private(set) var place: Int

    init(_ bytes: ArraySlice<UInt8>) { (self.bytes, place) = (bytes, bytes.startIndex) }

    mutating func take(_ count: Int) -> Int? {
      guard let value = bytes[place...].bigEndian(at: 0, count: count) else { return nil }
      place += count
      return value
    }
  }

  /// Boxes in a part of a file, one after the other.
  private struct Boxes {
    private var rest: Range<Int>

    init(_ part: Range<Int>) { rest = part }

    mutating func next(in file: [UInt8]) -> (name: String, contents: Range<Int>)? {
      guard let size = file[rest].bigEndian(at: 0, count: 4), size >= 8, size <= rest.count else { return nil }
      let name = String(decoding: file[rest.lowerBound + 4..<rest.lowerBound + 8], as: UTF8.self)
      let contents = rest.lowerBound + 8..<rest.lowerBound + size
      rest = contents.upperBound..<rest.upperBound
      return (name, contents)
    }
  }
}
