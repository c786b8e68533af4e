import Thumbnails

/// The image header.
struct JXLImage {
  let pixels: PixelSize
  var orientation = 1
  var hasPreview = false
  var isAnimated = false
  var hasTimecodes = false
  var channels: [Channel] = []
  /// Whether colours are coded in XYB, which libjxl converts to sRGB.
  var isXYB = true
  var isGrey = false
  var color = ColorDescription.sRGB
  /// The number of the transfer characteristics in H.273; nil if they have none.
  var transfer: Int?
  /// Whether a coded profile is before the first frame. It ends where only an entropy decoder knows.
  var hasProfile = false

  /// A channel besides those of the colours.
  struct Channel {
    enum Kind: Int {
      case alpha = 0
      case black = 4
    }

    /// nil for kinds that are not shown.
    var type: Kind?
    /// Its size is the picture's, divided by 2 to this power.
    var shift = 0
  }

  /// Reads from the signature to the profile.
  init(_ bits: inout JXLBits) throws(ThumbnailError) {
    guard try bits.bits(16) == 0x0AFF else { throw .damaged("the codestream has no signature") }
    pixels = try Self.size(&bits)
    let isDefault = try bits.flag()
    if !isDefault { try readMetadata(&bits) }
    try skipTransform(&bits)
    guard hasProfile else { return }
    // The size of the profile as it is coded: without what can be predicted, such as the names of tags.
    let coded = Int(min(try bits.longNumber(), UInt64(PictureHeader.longestBlock)))
    if !isXYB { color = .compressedProfile(longest: min(PictureHeader.longestBlock, 4 * coded + 16 << 10)) }
  }

  private static func size(_ bits: inout JXLBits) throws(ThumbnailError) -> PixelSize {
    let isSmall = try bits.flag()
    func side() throws(ThumbnailError) -> Int {
      isSmall ? 8 * (try bits.bits(5) + 1) : try bits.number((1, 9), (1, 13), (1, 18), (1, 30))
    }
    let height = try side()
    let ratio = try bits.bits(3)
    let width = if let width = Self.width(ofHeight: height, ratio: ratio) { width } else { try side() }
    guard width > 0 else { throw .damaged("the picture has no pixels") }
    return PixelSize(width: width, height: height)
  }

  /// The width that a picture has by the number of its shape; nil if that is none.
  private static func width(ofHeight height: Int, ratio: Int) -> Int? {
    let ratios = [(1, 1), (12, 10), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1)]
    guard ratio > 0 else { return nil }
    return height * ratios[ratio - 1].0 / ratios[ratio - 1].1
  }

  private static func skipPreviewSize(_ bits: inout JXLBits) throws(ThumbnailError) {
    let isDivided = try bits.flag()
    func skipSide() throws(ThumbnailError) {
      _ =
        isDivided
        ? try bits.number((16, 0), (32, 0), (1, 5), (33, 9)) : try bits.number((1, 6), (65, 8), (321, 10), (1345, 12))
    }
    try skipSide()
    if try bits.bits(3) == 0 { try skipSide() }
  }

  private mutating func readMetadata(_ bits: inout JXLBits) throws(ThumbnailError) {
    let hasExtraFields = try bits.flag()
    if hasExtraFields {
      orientation = try bits.bits(3) + 1
      // The intrinsic size is one for display, which no program heeds.
      if try bits.flag() { _ = try Self.size(&bits) }
      hasPreview = try bits.flag()
      if hasPreview { try Self.skipPreviewSize(&bits) }
      isAnimated = try bits.flag()
      if isAnimated {
        _ = try bits.number((100, 0), (1000, 0), (1, 10), (1, 30))
        _ = try bits.number((1, 0), (1001, 0), (1, 8), (1, 10))
        _ = try bits.number((0, 0), (0, 3), (0, 16), (0, 32))
        hasTimecodes = try bits.flag()
      }
    }
    try Self.skipBitDepth(&bits)
    // Whether samples fit 16 bits.
    _ = try bits.flag()
    for _ in 0..<(try bits.number((0, 0), (1, 0), (2, 4), (1, 12))) { channels.append(try Channel(&bits)) }
    isXYB = try bits.flag()
    try readColor(&bits)
    // Tone mapping.
    if hasExtraFields, try !bits.flag() { try bits.skip(16 + 16 + 1 + 16) }
    try bits.skipExtensions()
  }

  static func skipBitDepth(_ bits: inout JXLBits) throws(ThumbnailError) {
    if try bits.flag() {
      _ = try bits.number((32, 0), (16, 0), (24, 0), (1, 6))
      _ = try bits.bits(4)
    } else {
      _ = try bits.number((8, 0), (10, 0), (12, 0), (1, 6))
    }
  }

  /// Reads the colour encoding. Its numbers of primaries and transfer characteristics are those of H.273, but for some.
  private mutating func readColor(_ bits: inout JXLBits) throws(ThumbnailError) {
    if try bits.flag() { return }
    hasProfile = try bits.flag()
    let space = try bits.choice()
    let (grey, xyb, other) = (1, 2, 3)
    isGrey = space == grey
    if hasProfile { return }
    let (custom, p3) = (2, 11)
    var (white, primaries): (Int, Int) = (1, 1)
    if space != xyb {
      white = try bits.choice()
      if white == custom { try Self.skipChromaticities(&bits, count: 1) }
      if space != grey {
        primaries = try bits.choice()
        if primaries == custom { try Self.skipChromaticities(&bits, count: 3) }
      }
      if try bits.flag() {
        _ = try bits.bits(24)
      } else {
        transfer = try bits.choice()
      }
    }
    // The rendering intent.
    _ = try bits.choice()
    if isXYB { return }
    let (d65, dci) = (1, 11)
    switch (white, primaries, transfer) {
    case _ where space == xyb || space == other: color = .unknown
    case (d65, 1, 13): break
    case (d65, 1, let transfer?) where Self.isKnown(transfer): color = .numbered(primaries: 1, transfer: transfer)
    case (d65, 9, let transfer?) where Self.isKnown(transfer): color = .numbered(primaries: 9, transfer: transfer)
    // H.273 numbers these primaries by their white.
    case (d65, p3, let transfer?) where Self.isKnown(transfer): color = .numbered(primaries: 12, transfer: transfer)
    case (dci, p3, let transfer?) where Self.isKnown(transfer): color = .numbered(primaries: 11, transfer: transfer)
    // libjxl makes a profile of these, which is short.
    default: color = .compressedProfile(longest: 16 << 10)
    }
  }

  /// Whether a number of transfer characteristics means the same in H.273.
  private static func isKnown(_ transfer: Int) -> Bool { [1, 8, 13, 16, 18].contains(transfer) }

  private static func skipChromaticities(_ bits: inout JXLBits, count: Int) throws(ThumbnailError) {
    for _ in 0..<2 * count { _ = try bits.number((0, 19), (524_288, 19), (1_048_576, 20), (2_097_152, 21)) }
  }

  /// Passes over the matrix of XYB, and the weights for upsampling.
  private func skipTransform(_ bits: inout JXLBits) throws(ThumbnailError) {
    if try bits.flag() { return }
    if isXYB, try !bits.flag() { try bits.skip(16 * (9 + 3 + 4)) }
    let weights: [UInt64] = [15, 55, 210]
    let present = try bits.bits(3)
    for (index, count) in weights.enumerated() where present >> index & 1 == 1 { try bits.skip(16 * count) }
  }
}

extension JXLImage.Channel {
  init(_ bits: inout JXLBits) throws(ThumbnailError) {
    if try bits.flag() {
      type = .alpha
      return
    }
    let (alpha, spotColor, filter) = (0, 2, 5)
    let number = try bits.choice()
    type = Kind(rawValue: number)
    try JXLImage.skipBitDepth(&bits)
    shift = try bits.number((0, 0), (3, 0), (4, 0), (1, 3))
    guard shift <= 3 else { throw .damaged("a channel is too small") }
    try bits.skipName()
    // Whether colours are multiplied by this alpha.
    if number == alpha { _ = try bits.flag() }
    if number == spotColor { try bits.skip(4 * 16) }
    if number == filter { _ = try bits.number((1, 0), (0, 2), (3, 4), (19, 8)) }
  }
}
