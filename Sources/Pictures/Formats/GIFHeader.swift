import Thumbnails

/// Reads the header of a GIF picture, up to the data of its first frame.
///
/// *Source*: GIF89a, 17 to 26.
enum GIFHeader {
  /// The most bytes before the first frame. Files have a page of metadata there, or a few.
  private static let mostBytesBefore: UInt64 = 16 << 20

  /// - throws: `ThumbnailError`: `damaged`, `truncated` and `unreadable`.
  static func read(_ window: FileWindow) throws(ThumbnailError) -> PictureHeader {
    var reader = ForwardReader(window)
    let signature = try reader.bytes(6)
    guard signature.starts(with: Array("GIF".utf8)) else { throw .damaged("the file does not begin as a GIF") }
    let screen = try reader.bytes(7)
    var extensions = Extensions()
    skipColorTable(screen[4], &reader)
    while try extensions.read(&reader) {}
    let frame = try Frame(&reader)
    guard frame.size.width > 0, frame.size.height > 0 else { throw .damaged("the first frame has no pixels") }
    // The screen is enlarged for a first frame that exceeds it, as browsers do.
    let pixels = PixelSize(
      width: max(littleEndian(screen[0..<2]), frame.left + frame.size.width),
      height: max(littleEndian(screen[2..<4]), frame.top + frame.size.height))
    var header = PictureHeader(
      type: .gif, pixels: pixels, components: .rgb, coding: .gif, workingBytes: workingBytes(frame.size.width))
    header.hasAlpha = extensions.hasTransparency || frame.size != pixels
    if extensions.isAnimated { header.remarks.append("only the first frame of an animation is shown") }
    return header
  }

  /// What giflib and our decoder allocate: a row of indices and one of pixels. The rest is an input buffer of 64 KiB,
  /// the tables for LZW codes, and three colour tables; measured: 95 KB.
  private static func workingBytes(_ width: Int) -> Int { (104 << 10) + 5 * width }

  /// Passes over a colour table, if the packed fields say that there is one.
  private static func skipColorTable(_ fields: UInt8, _ reader: inout ForwardReader) {
    if fields & 0x80 != 0 { reader.skip(3 << (Int(fields & 7) + 1)) }
  }

  /// What the blocks before the first image descriptor say.
  private struct Extensions {
    var hasTransparency = false
    var isAnimated = false

    /// Reads a block. Returns false after the introducer of an image descriptor.
    mutating func read(_ reader: inout ForwardReader) throws(ThumbnailError) -> Bool {
      guard reader.offset < mostBytesBefore else { throw .damaged("there is no picture in the first 16 MiB") }
      switch try reader.byte() {
      case 0x2C: return false
      case 0x21: try readExtension(&reader)
      case 0x3B: throw .damaged("the file has no picture")
      default: throw .damaged("no block begins where one should")
      }
      return true
    }

    private mutating func readExtension(_ reader: inout ForwardReader) throws(ThumbnailError) {
      let (graphicControl, application): (UInt8, UInt8) = (0xF9, 0xFF)
      let label = try reader.byte()
      var size = Int(try reader.byte())
      if label == graphicControl, size == 4 {
        hasTransparency = try reader.bytes(4)[0] & 1 != 0
        size = Int(try reader.byte())
      } else if label == application, size == 11 {
        // The application extension that repeats an animation.
        let name = try reader.bytes(11)
        if name == Array("NETSCAPE2.0".utf8) || name == Array("ANIMEXTS1.0".utf8) { isAnimated = true }
        size = Int(try reader.byte())
      }
      while size != 0 {
        guard reader.offset < mostBytesBefore else { throw .damaged("there is no picture in the first 16 MiB") }
        reader.skip(size)
        size = Int(try reader.byte())
      }
    }
  }

  /// An image descriptor.
  private struct Frame {
    let left: Int
    let top: Int
    let size: PixelSize

    init(_ reader: inout ForwardReader) throws(ThumbnailError) {
      let fields = try reader.bytes(9)
      (left, top) = (littleEndian(fields[0..<2]), littleEndian(fields[2..<4]))
      size = PixelSize(width: littleEndian(fields[4..<6]), height: littleEndian(fields[6..<8]))
    }
  }
}
