import Thumbnails

/// What the chunks of a PNG file besides IHDR and IDAT say. An ancillary chunk that is wrong is ignored, as by libpng.
struct PNGFindings {
  private(set) var hasPalette = false
  private(set) var hasTransparency = false
  private(set) var exif: FileExtent?
  private(set) var orientation = Orientation.upright
  private var numbers: (primaries: Int, transfer: Int, isFullRange: Bool)?
  private var compressedProfileBytes: UInt64?
  private var hasSRGB = false
  private var gamma: Double?
  private var chromaticities: [Double]?
  private var frames: UInt32 = 0
  private var defaultImageIsFrame = false

  /// The most bytes of the EXIF block in which the orientation is looked for. Files of other formats cannot have more.
  private static let longestExif = 64 << 10

  /// - throws: what `FileWindow` throws. A chunk before the data must be whole.
  mutating func take(_ chunk: PNGChunks.Chunk, _ window: FileWindow) throws(ThumbnailError) {
    switch chunk.type {
    case .plte: hasPalette = true
    case .trns: hasTransparency = true
    case .exif: try takeExif(chunk.data, window)
    case .actl: if let data = try Self.data(of: chunk, 8, window) { frames = Self.number(data[..<4]) }
    case .fctl: defaultImageIsFrame = true
    // The chunks about colour must be before the palette.
    case .cicp where !hasPalette: takeNumbers(try Self.data(of: chunk, 4, window))
    // libpng ignores a shorter one, and all but the first.
    case .iccp where !hasPalette && chunk.data.size >= 14 && compressedProfileBytes == nil:
      compressedProfileBytes = chunk.data.size
    case .srgb where !hasPalette: hasSRGB = true
    case .gama where !hasPalette:
      guard let data = try Self.data(of: chunk, 4, window) else { return }
      let exponent = 100_000 / Double(Self.number(data[...]))
      gamma = (0.1...10).contains(exponent) ? exponent : nil
    case .chrm where !hasPalette: takeChromaticities(try Self.data(of: chunk, 32, window))
    default: break
    }
  }

  /// Looks for EXIF tags after the picture's data, in as many chunks as are read at most. Damage there fails nothing.
  mutating func findExif(after chunks: inout PNGChunks, _ window: FileWindow) {
    while exif == nil, let chunk = try? chunks.readNext(), chunk.type != .iend {
      if chunk.type == .exif { try? takeExif(chunk.data, window) }
    }
  }

  private static func data(
    of chunk: PNGChunks.Chunk, _ count: Int, _ window: FileWindow
  ) throws(ThumbnailError) -> [UInt8]? {
    chunk.data.size == UInt64(count) ? try window.bytes(at: chunk.data.offset, count: count) : nil
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }

  private mutating func takeExif(_ data: FileExtent, _ window: FileWindow) throws(ThumbnailError) {
    guard exif == nil, data.size <= UInt64(PictureHeader.longestBlock) else { return }
    let bytes = try window.bytes(at: data.offset, count: min(Int(data.size), Self.longestExif))
    // Some programs write the prefix that the block has in a JPEG.
    let start = bytes.starts(with: Array("Exif\0\0".utf8)) ? 6 : 0
    guard bytes[start...].starts(with: [0x49, 0x49]) || bytes[start...].starts(with: [0x4D, 0x4D]) else { return }
    exif = FileExtent(offset: data.offset + UInt64(start), size: data.size - UInt64(start))
    orientation = bytes.withUnsafeBufferPointer { ExifOrientation.read(UnsafeBufferPointer(rebasing: $0[start...])) }
  }

  private mutating func takeNumbers(_ data: [UInt8]?) {
    // The matrix must be that of RGB.
    guard let data, data[2] == 0, data[3] <= 1 else { return }
    numbers = (Int(data[0]), Int(data[1]), isFullRange: data[3] == 1)
  }

  /// Takes chromaticities with which colours can be computed: those of three primaries that are not on one line, and
  /// of a white that is neither black nor outside.
  private mutating func takeChromaticities(_ data: [UInt8]?) {
    guard let data else { return }
    let values = stride(from: 0, to: 32, by: 4).map { Double(Self.number(data[$0..<$0 + 4])) / 100_000 }
    let area = (values[4] - values[2]) * (values[7] - values[3]) - (values[6] - values[2]) * (values[5] - values[3])
    guard values.allSatisfy({ $0 <= 1 }), values[1] > 0.01, abs(area) > 0.001 else { return }
    chromaticities = values
  }

  /// What the chunk with the highest priority says (4.3 "Color spaces").
  var color: ColorDescription {
    if let numbers { return .numbered(primaries: numbers.primaries, transfer: numbers.transfer) }
    if let compressedProfileBytes { return .compressedProfile(longest: Self.longestProfile(compressedProfileBytes)) }
    if hasSRGB { return .sRGB }
    // Without a gamma, chromaticities alone say too little.
    guard let gamma else { return .unknown }
    // Encoders write this as an approximation of sRGB, for decoders that know no other chunk (11.3.2.5).
    let isLikeSRGB = abs(gamma - 2.2) < 0.01 && (chromaticities.map(Self.isSRGB) ?? true)
    return isLikeSRGB ? .sRGB : .power(gamma, chromaticities: chromaticities)
  }

  private static func isSRGB(_ values: [Double]) -> Bool {
    zip(values, [0.3127, 0.329, 0.64, 0.33, 0.3, 0.6, 0.15, 0.06]).allSatisfy { abs($0 - $1) < 0.002 }
  }

  /// The values that grey samples use.
  var range: YCbCrRange { numbers.map { $0.isFullRange ? .full : .limited } ?? .full }

  /// The most bytes of a profile once it is inflated. Profiles are compressed to a half or a third, those with empty
  /// tables to less. To a hundredth is the most that is allowed, because memory is reserved for it.
  private static func longestProfile(_ compressed: UInt64) -> Int {
    min(PictureHeader.longestBlock, Int(compressed) * 100)
  }

  func remarks(isGrey: Bool) -> [String] {
    var remarks: [String] = []
    if frames > 1 {
      remarks.append(
        defaultImageIsFrame
          ? "only the first of \(frames) frames is shown" : "its default image is shown, and none of \(frames) frames")
    }
    if range == .limited, !isGrey { remarks.append("the limited range of its samples is not expanded") }
    return remarks
  }
}
