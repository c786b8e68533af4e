import Thumbnails

/// Reads the header of a Photoshop file (PSD and PSB), of which the merged picture is shown.
///
/// *Source*: Adobe Photoshop File Formats Specification.
enum PSDHeader {
  private enum Mode: Int {
    case bitmap = 0
    case grey = 1
    case indexed = 2
    case rgb = 3
    case cmyk = 4
    case multichannel = 7
    case duotone = 8
    case lab = 9
  }

  /// - throws: `ThumbnailError`: `damaged`, `truncated`, `unsupported` and `unreadable`.
  static func read(_ window: FileWindow) throws(ThumbnailError) -> PictureHeader {
    let head = try window.bytes(at: 0, count: 26)
    let version = bigEndian(head[4..<6])
    guard head.starts(with: "8BPS".utf8), version == 1 || version == 2 else {
      throw .damaged("the file does not begin as a Photoshop file")
    }
    let channels = bigEndian(head[12..<14])
    let pixels = PixelSize(width: bigEndian(head[18..<22]), height: bigEndian(head[14..<18]))
    let (bits, code) = (bigEndian(head[22..<24]), bigEndian(head[24..<26]))
    guard pixels.width > 0, pixels.height > 0 else { throw .damaged("the picture has no pixels") }
    guard max(pixels.width, pixels.height) <= PictureHeader.largestSide else {
      throw .unsupported("a picture of \(pixels)")
    }
    guard let mode = Mode(rawValue: code) else { throw .damaged("Photoshop files have no mode \(code)") }
    let (components, shown) = try Self.components(mode)
    guard channels >= shown, channels <= 56 else { throw .damaged("it has \(channels) channels") }
    guard bits == 8 || (bits == 16 && mode != .indexed) || (bits == 1 && mode == .bitmap) else {
      throw .unsupported("samples of \(bits) bits", type: .psd)
    }

    let colors = try Section(window, at: 26, sizeBytes: 4)
    let resources = try Section(window, at: colors.end, sizeBytes: 4)
    let layers = try Section(window, at: resources.end, sizeBytes: version == 1 ? 4 : 8)
    let found = try Resources(window, resources)
    if found.lacksPicture { throw .unsupported("it was saved without a picture of all layers", type: .psd) }
    guard mode != .indexed || colors.size >= 768 else { throw .damaged("the palette is missing") }
    let compression = bigEndian(try window.bytes(at: layers.end, count: 2)[...])
    guard compression <= 1 else { throw .unsupported("a merged picture with compression \(compression)", type: .psd) }
    let mayHaveAlpha = channels > shown && [.grey, .rgb, .cmyk].contains(mode)
    let hasAlpha = try mayHaveAlpha ? Self.hasAlpha(window, layers, version) : false
    let layout = PSDLayout(
      data: layers.end + 2, channels: channels, bits: bits, isPacked: compression == 1,
      sizeBytes: version == 1 ? 2 : 4, palette: mode == .indexed ? colors.start : nil, hasAlpha: hasAlpha,
      isInverted: mode == .cmyk)
    var header = PictureHeader(
      type: .psd, pixels: pixels, components: components, coding: .psd(layout),
      workingBytes: workingBytes(pixels.width, bits, channels: max(shown, 3) + 1))
    header.hasAlpha = hasAlpha
    if let profile = found.profile { header.color = .profile(profile) }
    if let exif = found.exif { try header.take(exif: exif, window) }
    return header
  }

  /// The meaning of the samples, and how many channels have them.
  private static func components(_ mode: Mode) throws(ThumbnailError) -> (PictureHeader.Components, channels: Int) {
    switch mode {
    case .bitmap, .grey, .duotone: (.grey(.full), 1)
    case .indexed: (.rgb, 1)
    case .rgb: (.rgb, 3)
    case .cmyk: (.cmyk, 4)
    case .multichannel: throw .unsupported("separate channels", type: .psd)
    case .lab: throw .unsupported("colours of Lab", type: .psd)
    }
  }

  /// Whether the first channel after the colours is the alpha of the merged picture: then the count of layers is negative. Other
  /// channels are saved selections.
  private static func hasAlpha(_ window: FileWindow, _ layers: Section, _ version: Int) throws(ThumbnailError) -> Bool {
    let length: UInt64 = version == 1 ? 4 : 8
    guard layers.size >= length + 2 else { return false }
    return try window.bytes(at: layers.start + length, count: 2)[0] & 0x80 != 0
  }

  /// What our decoder allocates: for each channel a buffer of 64 KiB and a row, a packed row, and alpha.
  private static func workingBytes(_ width: Int, _ bits: Int, channels: Int) -> Int {
    (32 << 10) + channels * ((65 << 10) + 2 * width) + width * (max(bits, 8) / 4 + 1)
  }

  /// A part of the file that begins with its size.
  private struct Section {
    let start: UInt64
    let size: UInt64
    var end: UInt64 { start + size }

    init(_ window: FileWindow, at offset: UInt64, sizeBytes: Int) throws(ThumbnailError) {
      let bytes = try window.bytes(at: offset, count: sizeBytes)
      let size = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      start = offset + UInt64(sizeBytes)
      guard start <= window.size, size <= window.size - start else { throw FileWindow.endsTooEarly }
      self.size = size
    }
  }

  /// What the image resources say.
  private struct Resources {
    var profile: FileExtent?
    var exif: FileExtent?
    var lacksPicture = false

    /// The most that are read. Files have a few dozen.
    private static let most = 2000

    init(_ window: FileWindow, _ section: Section) throws(ThumbnailError) {
      var offset = section.start
      for _ in 0..<Self.most where section.end - offset >= 12 {
        let head = try window.bytes(at: offset, count: 7)
        guard head.starts(with: "8BIM".utf8) else { return }
        // The name is padded to whole words, with the byte of its length.
        let data = offset + 6 + UInt64(head[6] / 2 * 2 + 2)
        guard data + 4 <= section.end else { return }
        let size = UInt64(bigEndian(try window.bytes(at: data, count: 4)[...]))
        let extent = FileExtent(offset: data + 4, size: size)
        guard size <= section.end - extent.offset else { return }
        let isKept = size > 0 && size <= PictureHeader.longestBlock
        switch bigEndian(head[4..<6]) {
        case 1039 where isKept: profile = extent
        case 1058 where isKept: exif = extent
        case 1057 where size >= 5: lacksPicture = try window.bytes(at: extent.offset + 4, count: 1) == [0]
        default: break
        }
        offset = min(extent.offset + size + size % 2, section.end)
      }
    }
  }
}
