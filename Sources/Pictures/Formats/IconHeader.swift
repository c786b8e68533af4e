import Thumbnails

/// Reads the header of an icon of Windows, which has several pictures: that of the largest one, a bitmap or a PNG file.
///
/// *Source*: the ICONDIR structure of the Windows API.
enum IconHeader {
  private struct Entry {
    let pixels: PixelSize
    let bits: Int
    let offset: UInt64
  }

  /// - throws: `ThumbnailError`: `damaged`, `truncated`, `unsupported` and `unreadable`.
  static func read(_ window: FileWindow) throws(ThumbnailError) -> PictureHeader {
    let count = littleEndian(try window.bytes(at: 4, count: 2)[...])
    let table = try window.bytes(at: 6, count: 16 * count)
    let entries = stride(from: 0, to: table.count, by: 16).map { start in
      // 0 stands for 256.
      let (width, height) = (table[start], table[start + 1])
      return Entry(
        pixels: PixelSize(width: width == 0 ? 256 : Int(width), height: height == 0 ? 256 : Int(height)),
        bits: littleEndian(table[start + 6..<start + 8]), offset: UInt64(littleEndian(table[start + 12..<start + 16])))
    }
    guard let largest = entries.max(by: { ($0.pixels.count, $0.bits) < ($1.pixels.count, $1.bits) }) else {
      throw .damaged("it has no picture")
    }
    let start = try window.bytes(at: largest.offset, count: 8)
    guard ImageType.sniff(start) == .png else {
      return try Bitmap(window, at: largest.offset, data: 0, isIcon: true).header(type: .ico)
    }
    let png = try PNGHeader.read(window.part(from: largest.offset))
    var header = PictureHeader(
      type: .ico, pixels: png.pixels, components: png.components, coding: .png(at: largest.offset),
      workingBytes: png.workingBytes)
    (header.hasAlpha, header.color) = (png.hasAlpha, png.color)
    return header
  }
}
