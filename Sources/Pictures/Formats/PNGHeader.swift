import Thumbnails

/// Reads the header of a PNG or APNG picture: the chunks before its data, and EXIF tags after it. Of an APNG the
/// default image is decoded, which is mostly the first frame.
///
/// *Source*: PNG (third edition), 11 "Chunk specifications".
enum PNGHeader {
  /// - throws: `ThumbnailError`: `damaged`, `truncated`, `unsupported` and `unreadable`.
  static func read(_ window: FileWindow) throws(ThumbnailError) -> PictureHeader {
    var chunks = try PNGChunks(window)
    let first = try chunks.readNext()
    if first.type == .cgbi { throw .unsupported("Apple's variant of PNG (CgBI)") }
    guard first.type == .ihdr else { throw .damaged("the first chunk is not IHDR") }
    let ihdr = try IHDR(window, first.data)
    var found = PNGFindings()
    var chunk = try chunks.readNext()
    while chunk.type != .idat {
      guard chunk.type != .iend else { throw .damaged("there is no IDAT chunk") }
      try found.take(chunk, window)
      chunk = try chunks.readNext()
    }
    guard ihdr.colorType != .palette || found.hasPalette else { throw .damaged("the palette is missing") }
    found.findExif(after: &chunks, window)
    return header(ihdr, found)
  }

  private static func header(_ ihdr: IHDR, _ found: PNGFindings) -> PictureHeader {
    var header = PictureHeader(
      type: .png, pixels: ihdr.pixels, components: ihdr.colorType.isGrey ? .grey(found.range) : .rgb,
      coding: .png(at: 0),
      workingBytes: workingBytes(ihdr, found))
    header.hasAlpha = ihdr.colorType.hasAlpha || found.hasTransparency
    header.color = found.color
    header.orientation = found.orientation
    header.exif = found.exif
    header.remarks = found.remarks(isGrey: ihdr.colorType.isGrey)
    return header
  }

  /// What libpng, ISA-L and our decoder allocate: two rows of converted pixels, and, while the header is read, the
  /// profile.
  private static func workingBytes(_ ihdr: IHDR, _ found: PNGFindings) -> Int {
    // Input buffers of 64 and 32 KiB, 86 KiB for inflating, and structures. Measured: 190 KB.
    let constant = 208 << 10
    let row = (ihdr.pixels.width + 8) * ihdr.bytesPerPixel(isKeyed: found.hasTransparency) + 64
    guard case .compressedProfile(let profile) = found.color else { return constant + 2 * row }
    return constant + 2 * row + profile
  }
}

/// The chunk IHDR.
struct IHDR {
  enum ColorType: UInt8 {
    case grey = 0
    case rgb = 2
    case palette = 3
    case greyAlpha = 4
    case rgba = 6

    var isGrey: Bool { self == .grey || self == .greyAlpha }
    var hasAlpha: Bool { self == .greyAlpha || self == .rgba }
    /// The samples of a pixel, without a key and with the palette looked up.
    var channels: Int {
      switch self {
      case .grey: 1
      case .greyAlpha: 2
      case .rgb, .palette: 3
      case .rgba: 4
      }
    }
    var bitDepths: [UInt8] {
      switch self {
      case .grey: [1, 2, 4, 8, 16]
      case .palette: [1, 2, 4, 8]
      case .rgb, .greyAlpha, .rgba: [8, 16]
      }
    }
  }

  let pixels: PixelSize
  let bitDepth: UInt8
  let colorType: ColorType

  init(_ window: FileWindow, _ data: FileExtent) throws(ThumbnailError) {
    guard data.size == 13 else { throw .damaged("IHDR has \(data.size) bytes instead of 13") }
    let bytes = try window.bytes(at: data.offset, count: 13)
    let (width, height) = (bigEndian(bytes[..<4]), bigEndian(bytes[4..<8]))
    guard width > 0, height > 0 else { throw .damaged("the picture has no pixels") }
    pixels = PixelSize(width: width, height: height)
    guard max(width, height) <= PictureHeader.largestSide else { throw .unsupported("a picture of \(pixels)") }
    guard let colorType = ColorType(rawValue: bytes[9]), colorType.bitDepths.contains(bytes[8]) else {
      throw .damaged("PNG has no colour type \(bytes[9]) with \(bytes[8]) bits")
    }
    guard bytes[10] == 0, bytes[11] == 0, bytes[12] <= 1 else {
      throw .unsupported("unknown compression, filter or interlace method")
    }
    (bitDepth, self.colorType) = (bytes[8], colorType)
  }

  /// The bytes of a pixel once its samples are converted to whole bytes, and a key to alpha.
  func bytesPerPixel(isKeyed: Bool) -> Int {
    (colorType.channels + (isKeyed && !colorType.hasAlpha ? 1 : 0)) * (bitDepth == 16 ? 2 : 1)
  }
}
