import Thumbnails

/// The chunks of a PNG file, one after the other. Of each only the length and the type are read.
///
/// *Source*: PNG (third edition), 5.3 "Chunk layout".
struct PNGChunks {
  /// The types of chunk that matter here.
  enum ChunkType: String {
    case ihdr = "IHDR"
    case plte = "PLTE"
    case idat = "IDAT"
    case iend = "IEND"
    case trns = "tRNS"
    case cicp = "cICP"
    case iccp = "iCCP"
    case srgb = "sRGB"
    case gama = "gAMA"
    case chrm = "cHRM"
    case actl = "acTL"
    case fctl = "fcTL"
    case exif = "eXIf"
    /// What Apple's development tools put before all others in a variant of PNG that no decoder of PNG reads.
    case cgbi = "CgBI"
  }

  struct Chunk {
    /// Nil for a type that does not matter.
    let type: ChunkType?
    let data: FileExtent
  }

  static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

  /// The most chunks whose headers are read. Encoders write IDAT chunks of 8 KiB or more, so these are 80 MB of a file.
  static let mostChunks = 10_000

  private let window: FileWindow
  private var next = UInt64(signature.count)
  private var count = 0

  /// - throws: `ThumbnailError.damaged` if the file does not begin as PNG files do, `truncated` and `unreadable`.
  init(_ window: FileWindow) throws(ThumbnailError) {
    guard try window.bytes(at: 0, count: Self.signature.count) == Self.signature else {
      throw .damaged("the file does not begin as a PNG")
    }
    self.window = window
  }

  /// Reads the header of the next chunk. The file may end in its data.
  ///
  /// - throws: `ThumbnailError.damaged` if there is none, or after ``mostChunks``; `truncated` and `unreadable`.
  mutating func readNext() throws(ThumbnailError) -> Chunk {
    guard count < Self.mostChunks else { throw .damaged("more than \(Self.mostChunks) chunks") }
    count += 1
    let head = try window.bytes(at: next, count: 8)
    let length = head[..<4].reduce(0) { $0 << 8 | UInt64($1) }
    let type = head[4...]
    guard length <= Int32.max, type.allSatisfy({ (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) }) else {
      throw .damaged("no chunk begins where one should")
    }
    let data = FileExtent(offset: next + 8, size: length)
    // The chunk ends with its CRC, which libpng checks.
    next = data.offset + length + 4
    return Chunk(type: ChunkType(rawValue: String(decoding: type, as: UTF8.self)), data: data)
  }
}
