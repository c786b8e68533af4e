import Thumbnails

/// Reads the header of a JPEG XL file, which is a bare codestream or one in boxes, and the headers of its frames up to the
/// first one that is shown. From these it follows how much memory decoding takes.
///
/// Source: ISO/IEC 18181-1, annexes D (image header), E (ICC profile), F (frame header); 18181-2, 9 (boxes).
enum JXLHeader {
  /// - throws: `ThumbnailError`: `damaged`, `truncated`, `unsupported` and `unreadable`.
  static func read(_ window: FileWindow) throws(ThumbnailError) -> PictureHeader {
    let container = try JXLContainer(window)
    var bits = JXLBits(window, container.codestream)
    let image = try JXLImage(&bits)
    guard max(image.pixels.width, image.pixels.height) <= PictureHeader.largestSide else {
      throw .unsupported("a picture of \(image.pixels)")
    }
    guard !image.channels.contains(where: { $0.type == .black }) else { throw .unsupported("a picture in inks (CMYK)") }
    let memory = JXLMemory(image, JXLFrames(image, &bits))
    var header = PictureHeader(
      type: .jxl, pixels: image.pixels, components: image.isGrey ? .grey(.full) : .rgb, coding: .jxl,
      workingBytes: memory.bytes)
    // Premultiplied colours are divided by their alpha by libjxl.
    header.hasAlpha = image.channels.contains { $0.type == .alpha }
    header.rareBytes = memory.rareBytes
    header.color = image.color
    header.orientation = Orientation(rawValue: image.orientation) ?? .upright
    header.exif = container.exif
    if image.isAnimated { header.remarks.append("only the first frame of an animation is shown") }
    switch image.transfer {
    case 16: header.remarks.append("HDR (PQ), mapped to standard range")
    case 18: header.remarks.append("HDR (HLG), mapped to standard range")
    default: break
    }
    return header
  }
}
