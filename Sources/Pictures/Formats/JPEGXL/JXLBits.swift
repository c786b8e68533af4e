import Thumbnails

/// Reads the fields of a codestream, the least significant bit first.
struct JXLBits {
  private let window: FileWindow
  private let parts: [FileExtent]
  private let size: UInt64
  /// Where the next bit is: its byte in the codestream, and its place there.
  private(set) var byte: UInt64 = 0
  private var bit = 0
  /// A piece of the codestream, and where in it that is.
  private var piece: [UInt8] = []
  private var pieceStart: UInt64 = 0

  private static let pieceSize: UInt64 = 4096

  /// - parameter parts: in the file.
  init(_ window: FileWindow, _ parts: [FileExtent]) {
    (self.window, self.parts) = (window, parts)
    size = parts.reduce(0) { $0 + $1.size }
  }

  /// The bytes of the codestream that are in the file.
  var byteCount: UInt64 { size }

  private mutating func loadPiece() throws(ThumbnailError) {
    var start: UInt64 = 0
    for part in parts {
      if byte - start < part.size {
        let count = min(Self.pieceSize, part.size - (byte - start))
        piece = try window.bytes(at: part.offset + (byte - start), count: Int(count))
        pieceStart = byte
        return
      }
      start += part.size
    }
    throw FileWindow.endsTooEarly
  }

  /// An unsigned number of up to 32 bits.
  mutating func bits(_ count: Int) throws(ThumbnailError) -> Int {
    var (value, done) = (0, 0)
    while done < count {
      if byte < pieceStart || byte - pieceStart >= UInt64(piece.count) { try loadPiece() }
      let taken = min(8 - bit, count - done)
      value |= (Int(piece[Int(byte - pieceStart)]) >> bit & (1 << taken - 1)) << done
      done += taken
      bit += taken
      if bit == 8 { (byte, bit) = (byte + 1, 0) }
    }
    return value
  }

  mutating func flag() throws(ThumbnailError) -> Bool { try bits(1) == 1 }

  /// One of four kinds of numbers, each an offset and a count of bits that are added to it.
  mutating func number(
    _ first: (Int, Int), _ second: (Int, Int), _ third: (Int, Int), _ fourth: (Int, Int)
  ) throws(ThumbnailError) -> Int {
    let (offset, count) = [first, second, third, fourth][try bits(2)]
    return offset + (try bits(count))
  }

  /// A number of up to 64 bits; larger ones than `Int` has are cut off.
  mutating func longNumber() throws(ThumbnailError) -> UInt64 {
    switch try bits(2) {
    case 0: return 0
    case 1: return 1 + UInt64(try bits(4))
    case 2: return 17 + UInt64(try bits(8))
    default:
      var value = UInt64(try bits(12))
      var shift: UInt64 = 12
      while try flag() {
        guard shift < 60 else { return value | UInt64(try bits(4)) << 60 }
        value |= UInt64(try bits(8)) << shift
        shift += 8
      }
      return value
    }
  }

  /// One of the values of an enumeration.
  mutating func choice() throws(ThumbnailError) -> Int { try number((0, 0), (1, 0), (2, 4), (18, 6)) }

  /// Passes over so many bits.
  mutating func skip(_ count: UInt64) throws(ThumbnailError) {
    try skipBytes(count / 8)
    _ = try bits(Int(count % 8))
  }

  mutating func skipBytes(_ count: UInt64) throws(ThumbnailError) {
    // `byte` is at most `size`.
    guard count <= size - byte else { throw FileWindow.endsTooEarly }
    byte += count
  }

  /// Goes on to the next whole byte.
  mutating func align() { if bit > 0 { (byte, bit) = (byte + 1, 0) } }

  /// A name in UTF-8.
  mutating func skipName() throws(ThumbnailError) {
    try skip(8 * UInt64(try number((0, 0), (0, 4), (16, 5), (48, 10))))
  }

  /// Fields of later versions of the format.
  mutating func skipExtensions() throws(ThumbnailError) {
    let present = try longNumber()
    var sum: UInt64 = 0
    for _ in 0..<present.nonzeroBitCount {
      let (more, isTooLarge) = sum.addingReportingOverflow(try longNumber())
      guard !isTooLarge else { throw .damaged("an extension is too large") }
      sum = more
    }
    try skip(sum)
  }
}
