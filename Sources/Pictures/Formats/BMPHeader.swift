import Thumbnails

/// Reads the header of a BMP file.
///
/// *Source*: [MS-WMF] 2.2.2, "DeviceIndependentBitmap Object"; BITMAPV5HEADER of the Windows API.
enum BMPHeader {
  private static let fileHeader: UInt64 = 14

  /// - throws: `ThumbnailError`: `damaged`, `truncated`, `unsupported` and `unreadable`.
  static func read(_ window: FileWindow) throws(ThumbnailError) -> PictureHeader {
    let head = try window.bytes(at: 0, count: Int(fileHeader))
    guard head.starts(with: "BM".utf8) else { throw .damaged("the file does not begin as a BMP") }
    let bitmap = try Bitmap(window, at: fileHeader, data: UInt64(littleEndian(head[10..<14])), isIcon: false)
    return bitmap.header(type: .bmp)
  }
}

/// A device-independent bitmap: in a BMP file, or in an icon.
struct Bitmap {
  private let pixels: PixelSize
  private let raster: RasterLayout
  private let hasAlpha: Bool
  private let profile: FileExtent?

  private enum Compression: Int {
    case none = 0
    case rle8 = 1
    case rle4 = 2
    case masks = 3
    case masksWithAlpha = 6
  }

  /// - Parameters:
  ///   - start: where its header begins.
  ///   - data: where its rows begin, as the file says; 0 if they follow the palette.
  ///   - isIcon: whether the rows of a mask follow, which the height counts, too.
  /// - Throws: `ThumbnailError`: `damaged`, `truncated`, `unsupported` and `unreadable`.
  init(_ window: FileWindow, at start: UInt64, data: UInt64, isIcon: Bool) throws(ThumbnailError) {
    let size = littleEndian(try window.bytes(at: start, count: 4)[...])
    guard [12, 40, 52, 56, 64, 108, 124].contains(size) else { throw .damaged("it has no bitmap header") }
    // Fields that a shorter header lacks are 0.
    let header = try window.bytes(at: start, count: size) + [UInt8](repeating: 0, count: 124 - size)
    let isCore = size == 12
    let width = isCore ? littleEndian(header[4..<6]) : signed(header[4..<8])
    let height = isCore ? littleEndian(header[6..<8]) : signed(header[8..<12])
    let bits = littleEndian(isCore ? header[10..<12] : header[14..<16])
    let code = isCore ? 0 : littleEndian(header[16..<20])
    guard let compression = Compression(rawValue: code), size != 64 || code <= 2 else {
      throw .unsupported("compression \(code) of BMP")
    }
    pixels = PixelSize(width: width, height: abs(height) / (isIcon ? 2 : 1))
    guard width > 0, pixels.height > 0 else { throw .damaged("the picture has no pixels") }
    guard max(width, pixels.height) <= PictureHeader.largestSide else { throw .unsupported("a picture of \(pixels)") }
    guard [1, 2, 4, 8, 16, 24, 32].contains(bits) else { throw .damaged("BMP has no pixels of \(bits) bits") }

    // Masks are fields of longer headers, and follow a short one.
    let hasMasks = compression == .masks || compression == .masksWithAlpha
    let masksBehind = hasMasks && size == 40 ? (compression == .masks ? 12 : 16) : 0
    let table = start + UInt64(size + masksBehind)
    var given = header
    if masksBehind > 0 {
      given.replaceSubrange(40..<40 + masksBehind, with: try window.bytes(at: start + 40, count: masksBehind))
    }
    var masks = Self.masks(bits, isIcon: isIcon)
    if hasMasks, bits == 16 || bits == 32 {
      masks = stride(from: 40, to: 56, by: 4).map { UInt32(littleEndian(given[$0..<$0 + 4])) }
      guard masks.allSatisfy(isRun), masks[..<3].contains(where: { $0 != 0 }) else {
        throw .damaged("the masks of its colours are none")
      }
      if bits == 16 { masks = masks.map { $0 & 0xFFFF } }
    }

    var palette = RasterLayout.Palette(offset: table, count: 0, bytesPerColor: isCore ? 3 : 4)
    var end = table
    if bits <= 8 {
      let used = isCore ? 0 : littleEndian(header[32..<36])
      palette.count = used == 0 || used > 1 << bits ? 1 << bits : used
      // Some files have fewer colours than they say.
      if data > table { palette.count = min(palette.count, Int((data - table) / UInt64(palette.bytesPerColor))) }
      guard palette.count > 0 else { throw .damaged("the palette is missing") }
      end += UInt64(palette.count * palette.bytesPerColor)
    }
    let packing: RasterLayout.Packing =
      switch (compression, bits) {
      case (.rle8, 8): .rle8
      case (.rle4, 4): .rle4
      case (.rle8, _), (.rle4, _): throw .damaged("runs of pixels of \(bits) bits")
      default: .plain
      }
    let rowBytes = UInt64((width * bits + 31) / 32 * 4)
    let rows = data == 0 ? end : data
    raster = RasterLayout(
      data: rows, rowBytes: rowBytes, bits: bits, masks: masks, palette: bits <= 8 ? palette : nil,
      mask: isIcon ? rows + rowBytes * UInt64(pixels.height) : nil, packing: packing, isBottomUp: height > 0)
    hasAlpha = isIcon || masks[3] != 0
    let kind = size == 124 ? header[56..<60] : []
    profile =
      kind.elementsEqual("DEBM".utf8)
      ? FileExtent(
        offset: start + UInt64(littleEndian(header[112..<116])), size: UInt64(littleEndian(header[116..<120]))) : nil
  }

  /// The masks of red, green, blue and alpha where the file gives none.
  private static func masks(_ bits: Int, isIcon: Bool) -> [UInt32] {
    switch bits {
    case 16: [0x7C00, 0x03E0, 0x001F, 0]
    case 24: [0xFF_0000, 0xFF00, 0xFF, 0]
    case 32: [0xFF_0000, 0xFF00, 0xFF, isIcon ? 0xFF00_0000 : 0]
    default: [0, 0, 0, 0]
    }
  }

  func header(type: ImageType) -> PictureHeader {
    var header = PictureHeader(
      type: type, pixels: pixels, components: .rgb, coding: .raster(raster), workingBytes: raster.workingBytes(pixels))
    header.hasAlpha = hasAlpha
    if let profile, profile.size > 0, profile.size <= PictureHeader.longestBlock { header.color = .profile(profile) }
    return header
  }
}

/// Whether the ones of a mask are side by side, if there are any.
private func isRun(_ mask: UInt32) -> Bool {
  guard mask != 0 else { return true }
  let ones = mask >> UInt32(mask.trailingZeroBitCount)
  return ones & (ones &+ 1) == 0
}

/// A little-endian number of four bytes, with a sign.
private func signed(_ bytes: ArraySlice<UInt8>) -> Int { Int(Int32(truncatingIfNeeded: littleEndian(bytes))) }
