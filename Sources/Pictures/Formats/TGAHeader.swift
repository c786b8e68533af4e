import Thumbnails

/// Reads the header of a TGA file.
///
/// *Source*: Truevision TGA File Format Specification, version 2.0.
enum TGAHeader {
  private static let size = 18

  /// What the pixels are, and whether they are packed.
  private enum Kind: UInt8 {
    case palette = 1
    case colors = 2
    case grey = 3
    case packedPalette = 9
    case packedColors = 10
    case packedGrey = 11

    var isPacked: Bool { rawValue > 8 }
    var hasPalette: Bool { self == .palette || self == .packedPalette }
    var isGrey: Bool { self == .grey || self == .packedGrey }
  }

  /// - throws: `ThumbnailError`: `damaged`, `truncated`, `unsupported` and `unreadable`.
  static func read(_ window: FileWindow) throws(ThumbnailError) -> PictureHeader {
    let head = try window.bytes(at: 0, count: size)
    guard let kind = Kind(rawValue: head[2]) else { throw .unsupported("kind \(head[2]) of TGA") }
    let pixels = PixelSize(width: littleEndian(head[12..<14]), height: littleEndian(head[14..<16]))
    guard pixels.width > 0, pixels.height > 0 else { throw .damaged("the picture has no pixels") }
    let (bits, descriptor) = (Int(head[16]), head[17])
    let bytes = (bits + 7) / 8
    let table = UInt64(size) + UInt64(head[0])
    let (first, count, entryBits) = (littleEndian(head[3..<5]), littleEndian(head[5..<7]), Int(head[7]))
    let entry = (entryBits + 7) / 8
    let alphaBits = descriptor & 15
    var palette: RasterLayout.Palette?
    var masks: [UInt32] = [0, 0, 0, 0]
    switch kind {
    case .palette, .packedPalette:
      guard bits == 8, count > 0, (2...4).contains(entry) else { throw .unsupported("indices of \(bits) bits in TGA") }
      palette = RasterLayout.Palette(offset: table, first: first, count: min(count, 256), bytesPerColor: entry)
      // The bits of alpha are said of pixels only, and are 0 where pixels are indices.
      if entry == 4 { masks[3] = 0xFF00_0000 }
    case .grey, .packedGrey:
      guard bits == 8 else { throw .unsupported("grey pixels of \(bits) bits in TGA") }
    case .colors, .packedColors:
      switch bits {
      case 15, 16: masks = [0x7C00, 0x03E0, 0x001F, bits == 16 && alphaBits == 1 ? 0x8000 : 0]
      case 24, 32: masks = [0xFF_0000, 0xFF00, 0xFF, bits == 32 && alphaBits == 8 ? 0xFF00_0000 : 0]
      default: throw .damaged("TGA has no pixels of \(bits) bits")
      }
    }
    let raster = RasterLayout(
      data: table + UInt64(head[1] == 0 ? 0 : count * entry), rowBytes: UInt64(pixels.width * bytes), bits: 8 * bytes,
      masks: masks, palette: palette, packing: kind.isPacked ? .tgaRuns : .plain, isBottomUp: descriptor & 0x20 == 0,
      isRightToLeft: descriptor & 0x10 != 0)
    var header = PictureHeader(
      type: .tga, pixels: pixels, components: kind.isGrey ? .grey(.full) : .rgb, coding: .raster(raster),
      workingBytes: raster.workingBytes(pixels))
    header.hasAlpha = masks[3] != 0
    return header
  }
}
