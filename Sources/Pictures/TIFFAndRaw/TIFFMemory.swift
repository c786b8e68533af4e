import Thumbnails

/// The memory that decoding a TIFF page takes at most, besides the accumulator: the formula at the top of CPictures's
/// `tiff.c`, with what the page's directory says.
///
/// Sizes are floating-point numbers: those in hostile files are larger than any integer.
struct TIFFMemory {
  private typealias Compression = TIFFPage.Compression

  private let page: TIFFPage
  private let tile: (width: Double, height: Double)?
  /// Pixels across and down of a strip or tile.
  private let (across, down): (Double, Double)
  /// How many planes there are in the file, and how many of them are read.
  private let (planes, planesRead): (Double, Double)
  /// The bytes of one decoded row of a plane, and those of a strip or tile.
  private let (row, piece): (Double, Double)

  private static let kibibyte = 1024.0
  /// Strips up to this size are decoded as a whole unless they are streamed: those of LZW and Deflate, and all others.
  private static let smallDictionaryStrip = 4096 * kibibyte
  private static let smallStrip = 512 * kibibyte
  /// More sizes of strips and tiles than this are not read.
  private static let mostCounts = 4096

  /// - parameter samplesRead: the colours, and alpha if there is any.
  static func bytes(for page: TIFFPage, samplesRead: Int) throws(ThumbnailError) -> Int {
    let total = try TIFFMemory(page, samplesRead: samplesRead).total()
    return Int(min(total.rounded(.up), 0x1p62))
  }

  /// The memory that the dictionaries of LZMA and Zstandard take beyond ``bytes(for:samplesRead:)`` if they were compressed as
  /// strongly as their encoders can: 128 MiB for each plane.
  static func rareBytes(for page: TIFFPage, samplesRead: Int) throws(ThumbnailError) -> Int {
    guard [Compression.lzma, Compression.zstd].contains(page.compression) else { return 0 }
    return try Int(TIFFMemory(page, samplesRead: samplesRead).planesRead) << 27
  }

  private init(_ page: TIFFPage, samplesRead: Int) throws(ThumbnailError) {
    let directory = page.directory
    self.page = page
    if let width = try directory.integer(.tileWidth), let height = try directory.integer(.tileLength) {
      tile = (Double(max(1, width)), Double(max(1, height)))
    } else {
      tile = nil
    }
    let (width, height) = (Double(page.pixels.width), Double(page.pixels.height))
    let rows = try directory.integer(.rowsPerStrip).map { Double($0) } ?? height
    (across, down) = tile ?? (width, rows > 0 ? min(rows, height) : height)
    let isSeparate = try directory.integer(.planarConfiguration) == 2 && page.samplesPerPixel > 1
    (planes, planesRead) = isSeparate ? (Double(page.samplesPerPixel), Double(samplesRead)) : (1, 1)
    let samples = isSeparate ? 1 : Double(page.samplesPerPixel)
    row = (across * samples * Double(page.bitsPerSample) / 8).rounded(.up)
    piece = row * down
  }

  private func total() throws(ThumbnailError) -> Double {
    let (width, height) = (Double(page.pixels.width), Double(page.pixels.height))
    let pieces = (width / across).rounded(.up) * (height / down).rounded(.up) * planes
    let each = try kept() + codec()
    return 256 * Self.kibibyte + 64 * pieces + 8 * max(width, across) + planesRead * each
  }

  /// What is held of the samples of one plane.
  private func kept() throws(ThumbnailError) -> Double {
    let coded = try largestCount()
    if tile != nil { return piece + coded }
    let isSubsampled = try isSubsampled()
    if page.compression == Compression.none, !isSubsampled { return max(row, 64 * Self.kibibyte) }
    let isWhole =
      page.compression == Compression.oldJPEG || page.compression == Compression.jbig
      || page.compression != Compression.jpeg && isSubsampled
    let isDictionary = [Compression.lzw, Compression.deflate, Compression.oldDeflate].contains(page.compression)
    let isSmall = piece <= (isDictionary ? Self.smallDictionaryStrip : Self.smallStrip)
    let isSimple = isDictionary ? try hasSimpleSamples() : false
    if isSimple, !isWhole, page.compression == Compression.lzw || !isSmall { return max(row, 64 * Self.kibibyte) }
    return isWhole || isSmall ? piece + coded : row + coded
  }

  /// Whether the samples of LZW and Deflate are what was compressed, or differences of 8 or 16 bits.
  private func hasSimpleSamples() throws(ThumbnailError) -> Bool {
    guard try page.directory.integer(.fillOrder) ?? 1 == 1, try !isOldLZW() else { return false }
    switch try page.directory.integer(.predictor) ?? 1 {
    case 1: return true
    case 2: return page.bitsPerSample == 8 || page.bitsPerSample == 16
    default: return false
    }
  }

  /// Whether the strips have the LZW of before TIFF 5.0, whose bits are in another order. The first code of the first strip
  /// tells it.
  private func isOldLZW() throws(ThumbnailError) -> Bool {
    guard page.compression == Compression.lzw, let offset = try page.directory.integer(.stripOffsets),
      let place = page.directory.structure.place(offset),
      let first = try page.directory.structure.file.bytes(at: place, count: 2)
    else { return false }
    return first.first == 0 && first.last.map { $0 & 1 } == 1
  }

  private func isSubsampled() throws(ThumbnailError) -> Bool {
    guard page.photometric == TIFFPage.Photometric.ycc else { return false }
    // The default is 2 and 2.
    return try page.directory.integers(.yCbCrSubSampling, atMost: 2) != [1, 1]
  }

  /// The bytes of the largest strip or tile in the file, of which the decoder does not read more than this.
  private func largestCount() throws(ThumbnailError) -> Double {
    let most = min(10 * piece + 1024 * Self.kibibyte, Double(page.directory.structure.file.size))
    let tag = tile == nil ? TIFFTag.stripByteCounts : .tileByteCounts
    guard let entry = page.directory.entries[tag.rawValue], entry.count <= Self.mostCounts,
      let largest = try page.directory.integers(tag, atMost: Self.mostCounts).max()
    else { return most }
    return min(Double(largest), most)
  }

  /// What the codec of one reader holds.
  private func codec() throws(ThumbnailError) -> Double {
    switch page.compression {
    case Compression.huffman, Compression.group3, Compression.group4, Compression.huffmanWords: 16 * across
    case Compression.lzw, Compression.deflate, Compression.oldDeflate: 176 * Self.kibibyte
    case Compression.oldJPEG, Compression.jpeg:
      192 * Self.kibibyte + 64 * across + (try isProgressive() ? 2 * piece : 0) + (try largestCount())
    case Compression.lzma, Compression.zstd: 10 * 1024 * Self.kibibyte
    case Compression.webp: 512 * Self.kibibyte + 160 * across + 6 * piece
    case Compression.lerc, Compression.logLuv, Compression.logLuv24, Compression.pixarLog: 5 * piece
    case Compression.jbig: 2 * piece
    // None, PackBits, ThunderScan, NeXT; any other is not decoded.
    default: 0
    }
  }

  /// Whether the first JPEG is progressive. All of a file's come from one encoder.
  private func isProgressive() throws(ThumbnailError) -> Bool {
    let directory = page.directory
    for (offsets, counts) in TIFFPage.pieces {
      guard let offset = try directory.integer(offsets), let size = try directory.integer(counts),
        let place = directory.structure.place(offset),
        let extent = directory.structure.file.extent(at: place, size: size)
      else { continue }
      return try JPEGHead.read(directory.structure.file, extent)?.isProgressive == true
    }
    return false
  }
}
