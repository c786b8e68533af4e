import Thumbnails

/// Reads the header of a WebP file: the first frame's place and size, and where profile and EXIF are.
///
/// Source: RFC 9649, section 2 (container) and 3.4 (VP8L's header); RFC 6386, section 9.1 (VP8's).
enum WebPHeader {
  /// - throws: `ThumbnailError`: `damaged`, `truncated`, `unsupported` and `unreadable`.
  static func read(_ window: FileWindow) throws(ThumbnailError) -> PictureHeader {
    var reader = try WebPReader(window)
    try reader.readChunks()
    return try reader.header()
  }
}

/// What the walk over the chunks has found.
private struct WebPReader {
  private let window: FileWindow
  /// Where the RIFF chunk ends, which may be after the end of the file.
  private let end: UInt64
  /// What VP8X says; nil if there is none.
  private var canvas: Canvas?
  private var image: Image?
  private var alpha: FileExtent?
  private var profile: FileExtent?
  private var exif: FileExtent?
  private var frames = 0

  /// The most chunks that are read: EXIF comes after all frames of a moving picture.
  private static let mostChunks = 2000
  private static let riffHeader: UInt64 = 12

  private struct Canvas {
    let pixels: PixelSize
    let hasProfile: Bool
    let hasEXIF: Bool
    let hasAlpha: Bool
    let moves: Bool
  }

  /// A chunk `VP8 ` or `VP8L`.
  private struct Image {
    var x = 0
    var y = 0
    let chunk: FileExtent
    let pixels: PixelSize
    let isLossy: Bool
    let hasAlpha: Bool
    /// VP8: the bytes of the first partition, and how many others there are.
    var firstPartition = 0
    var partitions = 1
  }

  init(_ window: FileWindow) throws(ThumbnailError) {
    self.window = window
    let head = try window.bytes(at: 0, count: Int(Self.riffHeader))
    guard head.starts(with: "RIFF".utf8), head[8...].starts(with: "WEBP".utf8) else {
      throw .damaged("it has no RIFF header")
    }
    end = 8 + UInt64(littleEndian(head[4..<8]))
  }

  /// A chunk, or the beginning of one that is not whole.
  private struct Chunk {
    let name: String
    /// With header, but without padding.
    let extent: FileExtent

    static let header: UInt64 = 8
    var payload: FileExtent { FileExtent(offset: extent.offset + Self.header, size: extent.size - Self.header) }
    /// Where the next one begins.
    var end: UInt64 { extent.offset + extent.size + (extent.size & 1) }
  }

  /// The chunk at an offset; nil if the file or the structure around it ends there.
  private func chunk(at offset: UInt64, before limit: UInt64) throws(ThumbnailError) -> Chunk? {
    guard offset <= limit, limit - offset >= Chunk.header, offset <= window.size,
      window.size - offset >= Chunk.header
    else { return nil }
    let head = try window.bytes(at: offset, count: Int(Chunk.header))
    let size = UInt64(littleEndian(head[4..<8])) + Chunk.header
    return Chunk(name: String(decoding: head.prefix(4), as: UTF8.self), extent: FileExtent(offset: offset, size: size))
  }

  mutating func readChunks() throws(ThumbnailError) {
    var offset = Self.riffHeader
    for _ in 0..<Self.mostChunks {
      guard !isDone, let chunk = try chunk(at: offset, before: end) else { return }
      try read(chunk)
      offset = chunk.end
    }
    if image == nil { throw .damaged("no picture in its first \(Self.mostChunks) chunks") }
  }

  /// Whether nothing is missing that the file says it has.
  private var isDone: Bool {
    guard image != nil else { return false }
    guard let canvas else { return true }
    return (!canvas.hasEXIF || exif != nil) && (!canvas.moves || frames > 1)
  }

  private mutating func read(_ chunk: Chunk) throws(ThumbnailError) {
    switch chunk.name {
    case "VP8X" where canvas == nil && image == nil: canvas = try canvas(chunk)
    // A simple file has only its picture.
    case "ICCP" where profile == nil && canvas?.hasProfile == true: profile = chunk.payload
    case "EXIF" where exif == nil && canvas?.hasEXIF == true: exif = try window.structure(in: chunk.payload)
    // libwebp's demuxer, and with it Pillow and libvips, drop alpha if the canvas does not announce it.
    case "ALPH" where image == nil && canvas?.hasAlpha == true: alpha = chunk.extent
    case "VP8 ", "VP8L":
      guard image == nil else { return }
      guard chunk.extent.offset + chunk.extent.size <= end else { throw .damaged("a chunk is larger than the file") }
      image = try image(chunk)
    case "ANMF" where canvas?.moves == true:
      frames += 1
      if image == nil { try readFrame(chunk) }
    default: break
    }
  }

  private func canvas(_ chunk: Chunk) throws(ThumbnailError) -> Canvas {
    guard chunk.payload.size >= 10 else { throw .damaged("its VP8X chunk is too short") }
    let bytes = try window.bytes(at: chunk.payload.offset, count: 10)
    let pixels = PixelSize(width: littleEndian(bytes[4..<7]) + 1, height: littleEndian(bytes[7..<10]) + 1)
    return Canvas(
      pixels: pixels, hasProfile: bytes[0] & 0x20 != 0, hasEXIF: bytes[0] & 0x08 != 0, hasAlpha: bytes[0] & 0x10 != 0,
      moves: bytes[0] & 0x02 != 0)
  }

  /// A frame of a moving picture: 16 bytes, then the chunks of a picture.
  private mutating func readFrame(_ frame: Chunk) throws(ThumbnailError) {
    let head: UInt64 = 16
    guard frame.payload.size >= head else { throw .damaged("its first frame is too short") }
    let bytes = try window.bytes(at: frame.payload.offset, count: Int(head))
    alpha = nil
    var offset = frame.payload.offset + head
    // Chunks of other names are allowed, but a few at most occur.
    for _ in 0..<16 {
      guard let chunk = try chunk(at: offset, before: frame.extent.offset + frame.extent.size) else { break }
      if chunk.name == "ALPH" { alpha = chunk.extent }
      if chunk.name == "VP8 " || chunk.name == "VP8L" {
        guard chunk.extent.offset + chunk.extent.size <= frame.extent.offset + frame.extent.size else {
          throw .damaged("a chunk is larger than its frame")
        }
        var found = try image(chunk)
        let pixels = PixelSize(width: littleEndian(bytes[6..<9]) + 1, height: littleEndian(bytes[9..<12]) + 1)
        guard found.pixels == pixels else { throw .damaged("its first frame has another size than its picture") }
        (found.x, found.y) = (2 * littleEndian(bytes[0..<3]), 2 * littleEndian(bytes[3..<6]))
        image = found
        return
      }
      offset = chunk.end
    }
    throw frame.extent.offset + frame.extent.size > window.size
      ? FileWindow.endsTooEarly : .damaged("its first frame has no picture")
  }

  private func image(_ chunk: Chunk) throws(ThumbnailError) -> Image {
    try chunk.name == "VP8L" ? lossless(chunk) : lossy(chunk)
  }

  private func lossless(_ chunk: Chunk) throws(ThumbnailError) -> Image {
    let bytes = try start(of: chunk, count: 5)
    let bits = littleEndian(bytes[1..<5])
    guard bytes[0] == 0x2F, bits >> 29 == 0 else { throw .damaged("its picture has no VP8L header") }
    let pixels = PixelSize(width: bits & 0x3FFF + 1, height: bits >> 14 & 0x3FFF + 1)
    return Image(chunk: chunk.extent, pixels: pixels, isLossy: false, hasAlpha: bits >> 28 & 1 != 0)
  }

  private func lossy(_ chunk: Chunk) throws(ThumbnailError) -> Image {
    let bytes = try start(of: chunk, count: 10)
    let tag = littleEndian(bytes[0..<3])
    // A key frame that is shown, of one of the four versions.
    guard tag & 1 == 0, tag >> 1 & 7 <= 3, tag >> 4 & 1 == 1, Array(bytes[3..<6]) == [0x9D, 0x01, 0x2A] else {
      throw .damaged("its picture has no VP8 header")
    }
    // The upper two bits of each say how a player should enlarge it.
    let pixels = PixelSize(
      width: littleEndian(bytes[6..<8]) & 0x3FFF, height: littleEndian(bytes[8..<10]) & 0x3FFF)
    guard pixels.width > 0, pixels.height > 0 else { throw .damaged("its picture has no pixels") }
    let coded = try window.bytes(
      at: chunk.payload.offset + 10, atMost: min(VP8Partitions.longest, Int(chunk.payload.size) - 10))
    return Image(
      chunk: chunk.extent, pixels: pixels, isLossy: true, hasAlpha: false, firstPartition: tag >> 5,
      partitions: VP8Partitions.count(coded))
  }

  private func start(of chunk: Chunk, count: Int) throws(ThumbnailError) -> [UInt8] {
    guard chunk.payload.size >= count else { throw .damaged("its picture has no header") }
    return try window.bytes(at: chunk.payload.offset, count: count)
  }

  func header() throws(ThumbnailError) -> PictureHeader {
    guard let image else {
      throw end > window.size ? FileWindow.endsTooEarly : .damaged("it has no picture")
    }
    let pixels = canvas?.pixels ?? image.pixels
    // A canvas may have 16 million pixels along each side, which no decoder is asked for.
    guard max(pixels.width, pixels.height) <= PictureHeader.largestSide else {
      throw .unsupported("a canvas of \(pixels)")
    }
    let covers = image.x == 0 && image.y == 0 && image.pixels == pixels
    guard covers || canvas?.moves == true else { throw .damaged("its picture has another size than its canvas") }
    guard image.x + image.pixels.width <= pixels.width, image.y + image.pixels.height <= pixels.height else {
      throw .damaged("its first frame is outside its canvas")
    }
    // VP8L has its own alpha.
    let alphaChunk = image.isLossy ? alpha : nil
    let frame = WebPFrame(
      x: image.x, y: image.y, pixels: image.pixels, isLossy: image.isLossy, isScalable: covers,
      chunks: [alphaChunk, image.chunk].compactMap { $0 })
    let hasAlpha = image.hasAlpha || alphaChunk != nil || !covers
    let isSubsampled = image.isLossy && !hasAlpha
    let memory = WebPMemory(
      pixels: image.pixels, alphaBytes: alphaChunk?.size, imageBytes: image.chunk.size,
      firstPartition: image.isLossy ? image.firstPartition : nil, partitions: image.partitions)
    var header = PictureHeader(
      type: .webp, pixels: pixels, components: isSubsampled ? .ycc(.bt601, .limited, across: 2, down: 2) : .rgb,
      coding: .webp(frame), workingBytes: memory.bytes)
    header.hasAlpha = hasAlpha
    header.rareBytes = memory.rareBytes
    if let profile, isKept(profile) { header.color = .profile(profile) }
    if let exif, isKept(exif) { try header.take(exif: exif, window) }
    if frames > 1 { header.remarks.append("only the first frame of a moving picture is shown") }
    return header
  }

  /// Whether a block is whole and not too long.
  private func isKept(_ extent: FileExtent) -> Bool {
    extent.size > 0 && extent.size <= PictureHeader.longestBlock && extent.offset <= window.size
      && extent.size <= window.size - extent.offset
  }
}
