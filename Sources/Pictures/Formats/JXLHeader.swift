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

/// Where codestream and EXIF tags are in the file.
private struct JXLContainer {
  /// The parts of the codestream, in order. They are in the file.
  private(set) var codestream: [FileExtent] = []
  /// The TIFF structure.
  private(set) var exif: FileExtent?

  /// The most boxes of the file that are read. The codestream may be cut into many.
  private static let mostBoxes = 2000
  private static let signature: [UInt8] = [0, 0, 0, 0x0C] + Array("JXL ".utf8) + [0x0D, 0x0A, 0x87, 0x0A]

  init(_ window: FileWindow) throws(ThumbnailError) {
    let head = try window.bytes(at: 0, atMost: Self.signature.count)
    if head.starts(with: [0xFF, 0x0A]) {
      codestream = [FileExtent(offset: 0, size: window.size)]
      return
    }
    guard head == Self.signature else { throw .damaged("the file does not begin as JPEG XL") }
    let boxes = BoxReader(window)
    var rest = boxes.whole
    var isWhole = false
    for _ in 0..<Self.mostBoxes {
      guard let box = try nextBox(boxes, &rest, isWhole: isWhole) else { break }
      switch box.type {
      case "jxlc" where codestream.isEmpty:
        codestream.append(box.contents)
        isWhole = true
      case "jxlp" where !isWhole:
        // A counter is before each part. Its uppermost bit marks the last one.
        let (counter, part) = try Self.split(box.contents, boxes)
        codestream.append(part)
        isWhole = counter & 0x8000_0000 != 0
      case "Exif" where exif == nil: exif = Self.structure(in: box, boxes)
      default: break
      }
    }
    guard !codestream.isEmpty else {
      throw rest.size < 8 ? .damaged("the file has no codestream") : FileWindow.endsTooEarly
    }
  }

  /// The next box of the file. Behind the codestream nothing is needed, so what is wrong there does not matter.
  private func nextBox(
    _ boxes: BoxReader, _ rest: inout FileExtent, isWhole: Bool
  ) throws(ThumbnailError) -> Box? {
    do throws(ThumbnailError) {
      return try boxes.next(in: &rest)
    } catch {
      guard isWhole, case .damaged = error else { throw error }
      return nil
    }
  }

  /// The number of four bytes with which a part of the file begins, and what follows it.
  private static func split(
    _ extent: FileExtent, _ boxes: BoxReader
  ) throws(ThumbnailError) -> (UInt32, FileExtent) {
    guard extent.size >= 4 else { throw .damaged("a box is too short") }
    let bytes = try boxes.bytes(FileExtent(offset: extent.offset, size: 4), atMost: 4)
    return (
      bytes.reduce(0) { $0 << 8 | UInt32($1) }, FileExtent(offset: extent.offset + 4, size: extent.size - 4)
    )
  }

  /// The TIFF structure in a box of EXIF tags, which begins with how many bytes are before the structure.
  private static func structure(in box: Box, _ boxes: BoxReader) -> FileExtent? {
    guard !box.isCut, let (skipped, rest) = try? split(box.contents, boxes), skipped < rest.size else { return nil }
    let found = FileExtent(offset: rest.offset + UInt64(skipped), size: rest.size - UInt64(skipped))
    return found.size <= PictureHeader.longestBlock ? found : nil
  }
}

/// Reads the fields of a codestream, the least significant bit first.
private struct JXLBits {
  private let window: FileWindow
  private let parts: [FileExtent]
  private let size: UInt64
  /// Where the next bit is: its byte in the codestream, and its place there.
  private(set) var byte: UInt64 = 0
  private var bit = 0
  /// A piece of the codestream, and where in it that is.
  private var piece: [UInt8] = []
  private var pieceStart: UInt64 = 0

  private static let pieceSize: UInt64 = 4096

  /// - parameter parts: in the file.
  init(_ window: FileWindow, _ parts: [FileExtent]) {
    (self.window, self.parts) = (window, parts)
    size = parts.reduce(0) { $0 + $1.size }
  }

  /// How many bytes the codestream has, or what there is of it.
  var byteCount: UInt64 { size }

  private mutating func loadPiece() throws(ThumbnailError) {
    var start: UInt64 = 0
    for part in parts {
      if byte - start < part.size {
        let count = min(Self.pieceSize, part.size - (byte - start))
        piece = try window.bytes(at: part.offset + (byte - start), count: Int(count))
        pieceStart = byte
        return
      }
      start += part.size
    }
    throw FileWindow.endsTooEarly
  }

  /// An unsigned number of up to 32 bits.
  mutating func bits(_ count: Int) throws(ThumbnailError) -> Int {
    var (value, done) = (0, 0)
    while done < count {
      if byte < pieceStart || byte - pieceStart >= UInt64(piece.count) { try loadPiece() }
      let taken = min(8 - bit, count - done)
      value |= (Int(piece[Int(byte - pieceStart)]) >> bit & (1 << taken - 1)) << done
      done += taken
      bit += taken
      if bit == 8 { (byte, bit) = (byte + 1, 0) }
    }
    return value
  }

  mutating func flag() throws(ThumbnailError) -> Bool { try bits(1) == 1 }

  /// One of four kinds of numbers, each an offset and a count of bits that are added to it.
  mutating func number(
    _ first: (Int, Int), _ second: (Int, Int), _ third: (Int, Int), _ fourth: (Int, Int)
  ) throws(ThumbnailError) -> Int {
    let (offset, count) = [first, second, third, fourth][try bits(2)]
    return offset + (try bits(count))
  }

  /// A number of up to 64 bits; larger ones than `Int` has are cut off.
  mutating func longNumber() throws(ThumbnailError) -> UInt64 {
    switch try bits(2) {
    case 0: return 0
    case 1: return 1 + UInt64(try bits(4))
    case 2: return 17 + UInt64(try bits(8))
    default:
      var value = UInt64(try bits(12))
      var shift: UInt64 = 12
      while try flag() {
        guard shift < 60 else { return value | UInt64(try bits(4)) << 60 }
        value |= UInt64(try bits(8)) << shift
        shift += 8
      }
      return value
    }
  }

  /// One of the values of an enumeration.
  mutating func choice() throws(ThumbnailError) -> Int { try number((0, 0), (1, 0), (2, 4), (18, 6)) }

  /// Passes over so many bits.
  mutating func skip(_ count: UInt64) throws(ThumbnailError) {
    try skipBytes(count / 8)
    _ = try bits(Int(count % 8))
  }

  mutating func skipBytes(_ count: UInt64) throws(ThumbnailError) {
    // `byte` is at most `size`.
    guard count <= size - byte else { throw FileWindow.endsTooEarly }
    byte += count
  }

  /// Goes on to the next whole byte.
  mutating func align() { if bit > 0 { (byte, bit) = (byte + 1, 0) } }

  /// A name in UTF-8.
  mutating func skipName() throws(ThumbnailError) {
    try skip(8 * UInt64(try number((0, 0), (0, 4), (16, 5), (48, 10))))
  }

  /// Fields of later versions of the format.
  mutating func skipExtensions() throws(ThumbnailError) {
    let present = try longNumber()
    var sum: UInt64 = 0
    for _ in 0..<present.nonzeroBitCount {
      let (more, isTooLarge) = sum.addingReportingOverflow(try longNumber())
      guard !isTooLarge else { throw .damaged("an extension is too large") }
      sum = more
    }
    try skip(sum)
  }
}

/// The image header.
private struct JXLImage {
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

  fileprivate static func skipBitDepth(_ bits: inout JXLBits) throws(ThumbnailError) {
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
  fileprivate init(_ bits: inout JXLBits) throws(ThumbnailError) {
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

/// The headers of the frames up to the first one that is shown.
private struct JXLFrames {
  /// The frames; fewer if their headers cannot be found.
  private(set) var frames: [Frame] = []
  /// Whether the last one is shown.
  private(set) var isComplete = false

  /// The most frames and sections whose headers are read.
  private static let mostFrames = 32
  private static let mostSections = 100_000

  /// What the header of a frame says.
  struct Frame {
    var isModular = false
    var hasNoise = false
    /// The size as it is coded, without the upsampling.
    var width = 0
    var height = 0
    var upsampling = 1
    /// The side of a group.
    var groupSide = 256
    var passes = 1
    /// Where it is kept for later frames; nil if it is not.
    var slot: Int?
    /// Where a picture of the means of blocks is kept, 1 to 4; 0 if it is none.
    var meanLevel = 0
    var isShown = false
    /// The bytes of the largest section.
    var largestSection: UInt64 = 0

    var groups: Int { width.quotientUp(groupSide) * height.quotientUp(groupSide) }
    var groupsOfMeans: Int { width.quotientUp(8 * groupSide) * height.quotientUp(8 * groupSide) }
  }

  /// What is wrong with frames is left to the decoder.
  init(_ image: JXLImage, _ bits: inout JXLBits) {
    guard !image.hasProfile, !image.hasPreview else { return }
    do throws(ThumbnailError) {
      for _ in 0..<Self.mostFrames where !isComplete {
        bits.align()
        var frame = try Self.frame(image, &bits)
        let size = try Self.readSections(&frame, &bits)
        frames.append(frame)
        isComplete = frame.isShown
        guard let size else { return }
        if !isComplete { try bits.skipBytes(size) }
      }
    } catch {}
  }

  /// Reads the sizes of a frame's sections (F.3). Returns their sum; nil if they are in an order that is coded.
  private static func readSections(_ frame: inout Frame, _ bits: inout JXLBits) throws(ThumbnailError) -> UInt64? {
    let count = frame.groups == 1 && frame.passes == 1 ? 1 : 2 + frame.groupsOfMeans + frame.groups * frame.passes
    if try bits.flag() || count > mostSections {
      frame.largestSection = min(bits.byteCount, max(1 << 20, 4 * bits.byteCount / UInt64(max(frame.groups, 1))))
      return nil
    }
    bits.align()
    var sum: UInt64 = 0
    for _ in 0..<count {
      let size = UInt64(try bits.number((0, 10), (1024, 14), (17_408, 22), (4_211_712, 30)))
      frame.largestSection = max(frame.largestSection, size)
      sum += size
    }
    bits.align()
    return sum
  }

  private static func frame(_ image: JXLImage, _ bits: inout JXLBits) throws(ThumbnailError) -> Frame {
    var frame = Frame()
    (frame.width, frame.height) = (image.pixels.width, image.pixels.height)
    if try bits.flag() {
      frame.isShown = true
      return frame
    }
    let (means, reference) = (1, 2)
    let type = try bits.bits(2)
    frame.isModular = try bits.flag()
    let flags = try bits.longNumber()
    frame.hasNoise = flags & 1 != 0
    let usesMeans = flags & 32 != 0
    let isYCC = try image.isXYB ? false : bits.flag()
    if !usesMeans {
      if isYCC { try bits.skip(6) }
      frame.upsampling = 1 << (try bits.bits(2))
      for _ in image.channels { _ = try bits.bits(2) }
    }
    if frame.isModular {
      frame.groupSide = 128 << (try bits.bits(2))
    } else if image.isXYB {
      try bits.skip(6)
    }
    if type != reference { frame.passes = try passes(&bits) }
    if type == means {
      frame.meanLevel = try bits.bits(2) + 1
      let divisor = 1 << (3 * frame.meanLevel)
      (frame.width, frame.height) = (frame.width.quotientUp(divisor), frame.height.quotientUp(divisor))
    }
    let coversAll = try type == means ? true : readPlace(&frame, image, isReference: type == reference, &bits)
    (frame.width, frame.height) = (
      frame.width.quotientUp(frame.upsampling), frame.height.quotientUp(frame.upsampling)
    )
    try readRole(&frame, image, type: type, coversAll: coversAll, &bits)
    try bits.skipName()
    try skipFilters(frame, &bits)
    try bits.skipExtensions()
    return frame
  }

  private static func passes(_ bits: inout JXLBits) throws(ThumbnailError) -> Int {
    let count = try bits.number((1, 0), (2, 0), (3, 0), (4, 3))
    guard count > 1 else { return 1 }
    let reduced = try bits.number((0, 0), (1, 0), (2, 0), (3, 1))
    try bits.skip(2 * UInt64(count - 1))
    // How far each of these reduces the picture, and with which pass it is complete.
    for _ in 0..<reduced { _ = try bits.bits(2) }
    for _ in 0..<reduced { _ = try bits.number((0, 0), (1, 0), (2, 0), (0, 3)) }
    return count
  }

  /// Reads place and size of a frame, if it has its own. Returns whether it covers the picture.
  private static func readPlace(
    _ frame: inout Frame, _ image: JXLImage, isReference: Bool, _ bits: inout JXLBits
  ) throws(ThumbnailError) -> Bool {
    guard try bits.flag() else { return true }
    func number() throws(ThumbnailError) -> Int { try bits.number((0, 8), (256, 11), (2304, 14), (18_688, 30)) }
    func signed() throws(ThumbnailError) -> Int {
      let value = try number()
      return value & 1 == 0 ? value / 2 : -(value + 1) / 2
    }
    let (x, y) = isReference ? (0, 0) : (try signed(), try signed())
    (frame.width, frame.height) = (try number(), try number())
    guard frame.width > 0, frame.height > 0 else { throw .damaged("a frame has no pixels") }
    return isReference
      || x <= 0 && y <= 0 && frame.width + x >= image.pixels.width && frame.height + y >= image.pixels.height
  }

  /// Reads how a frame is mixed, whether it is shown, and whether it is kept.
  private static func readRole(
    _ frame: inout Frame, _ image: JXLImage, type: Int, coversAll: Bool, _ bits: inout JXLBits
  ) throws(ThumbnailError) {
    let (means, reference) = (1, 2)
    var isLast = false
    var duration = 0
    var replaces = true
    if type != means, type != reference {
      for channel in 0...image.channels.count {
        let mode = try bits.number((0, 0), (1, 0), (2, 0), (3, 2))
        let usesAlpha = !image.channels.isEmpty && (mode == 2 || mode == 3)
        if usesAlpha { _ = try bits.number((0, 0), (1, 0), (2, 0), (3, 3)) }
        if usesAlpha || mode == 4 { _ = try bits.flag() }
        if mode != 0 || !coversAll { _ = try bits.bits(2) }
        if channel == 0 { replaces = mode == 0 }
      }
      if image.isAnimated {
        duration = try bits.number((0, 0), (1, 0), (0, 8), (0, 32))
        if image.hasTimecodes { _ = try bits.bits(32) }
      }
      isLast = try bits.flag()
      frame.isShown = isLast || duration > 0
    }
    if type != 0 { isLast = false }
    var slot = 0
    if type != means, !isLast { slot = try bits.bits(2) }
    let isKept = type != means && !isLast && (duration == 0 || slot != 0)
    if isKept { frame.slot = slot }
    // Whether it is kept as it is before colours are converted.
    if type == reference || isKept && replaces && coversAll && type != means { _ = try bits.flag() }
  }

  private static func skipFilters(_ frame: Frame, _ bits: inout JXLBits) throws(ThumbnailError) {
    if try bits.flag() { return }
    if try bits.flag(), try bits.flag() { try bits.skip(6 * 16) }
    if try bits.bits(2) > 0 {
      if !frame.isModular, try bits.flag() { try bits.skip(8 * 16) }
      if try bits.flag() { try bits.skip(5 * 16) }
      if try bits.flag() { try bits.skip((frame.isModular ? 3 : 4) * 16) }
      if frame.isModular { try bits.skip(16) }
    }
    try bits.skipExtensions()
  }
}

/// The memory that libjxl 0.7 takes at most, which follows from how it decodes.
///
/// Of a lossy frame (VarDCT) it keeps what belongs to blocks of 8 × 8 pixels, and what neighbouring groups need of each
/// other. If the frame has several passes, it keeps all coefficients. Alpha and other channels besides the colours are coded
/// like a lossless frame. For all samples of that kind it takes four bytes each, and gives them back before it decodes
/// groups. If they have the transform “squeeze”, they are complete only at the end, and it keeps all samples of all channels
/// until then. libjxl's encoder squeezes alpha only in version 0.7, and colours only if it is asked to, or codes a lossy
/// picture in this way. Where the header does not tell, squeezed channels count as rare.
///
/// Measured for 24 megapixels, in bytes for each pixel: lossy 2.8 to 3.1, with noise 4.9, with squeezed alpha 35.2;
/// recompressed JPEG 1.6; lossless 12.4, grey 4.3, with alpha 16.4, squeezed 18.4. A lossy picture of one pixel takes 4.6 MB.
private struct JXLMemory {
  let bytes: Int
  let rareBytes: Int

  private static let mebibyte = Double(1 << 20)
  /// Sizes of pictures are not limited here, so all is computed as floating-point numbers, and more than this is none.
  private static let most = 1e15

  init(_ image: JXLImage, _ frames: JXLFrames) {
    let parts = frames.frames + (frames.isComplete ? [] : [Self.expected(image, frames)])
    let whole = Double(image.pixels.width) * Double(image.pixels.height)
    let pixelBytes = Double(4 * (3 + image.channels.count))
    var (kept, common, rare): ([Int: Double], Double, Double) = ([:], 0, 0)
    for frame in parts {
      let need = Need(image, frame)
      // Slots above 3 are those of means. What was in the slot is kept while the frame is decoded.
      let slot = frame.meanLevel > 0 ? 3 + frame.meanLevel : frame.slot
      let own = frame.meanLevel > 0 ? 12 * need.pixels : slot == nil ? 0 : pixelBytes * need.shownPixels
      let held = kept.values.reduce(own, +)
      common = max(common, held + need.common)
      rare = max(rare, held + need.rare)
      if let slot { kept[slot] = own }
    }
    // What is not known of frames may be the most that there is.
    if !frames.isComplete { rare += (pixelBytes + 12) * whole }
    bytes = Int(min(common, Self.most))
    // Tables for entropy coding take 48 MiB if a file makes the most of them.
    rareBytes = Int(min(max(rare - common, 0) + 48 * Self.mebibyte, Self.most))
  }

  /// A frame whose header cannot be found: lossy or lossless as nearly all pictures with such colours are.
  private static func expected(_ image: JXLImage, _ frames: JXLFrames) -> JXLFrames.Frame {
    var frame = JXLFrames.Frame()
    (frame.width, frame.height) = (image.pixels.width, image.pixels.height)
    frame.isModular = !image.isXYB
    frame.largestSection = 1 << 20
    return frame
  }

  /// What a frame needs.
  private struct Need {
    /// The pixels as they are coded, and after upsampling.
    let pixels: Double
    let shownPixels: Double
    let common: Double
    let rare: Double

    init(_ image: JXLImage, _ frame: JXLFrames.Frame) {
      // Rows are padded to whole vectors, and a little more.
      let (width, height) = (Double(frame.width + 48), Double(frame.height + 8))
      pixels = width * height
      shownPixels = pixels * Double(frame.upsampling * frame.upsampling)
      let others = Double(image.channels.count)
      let colors: Double = image.isGrey && !image.isXYB ? 1 : 3
      let channels = 3 + others + (frame.hasNoise ? 3 : 0)
      let side = Double(frame.groupSide)
      let groups = Double(frame.width.quotientUp(frame.groupSide)) * Double(frame.height.quotientUp(frame.groupSide))
      let groupSide = side * Double(image.channels.isEmpty ? 1 : frame.upsampling)
      let group = 4 * channels * (groupSide + 32) * (groupSide + 32)
      // What neighbouring groups need of each other, for filters.
      let borders = shownPixels * channels * 224 / side
      let input = 3 * (Double(frame.largestSection) + mebibyte / 8)
      if frame.isModular {
        let samples = 4 * (colors * pixels + others * shownPixels)
        let groupSamples = 4 * (colors + others) * min(side * side, pixels)
        let base = 8 * mebibyte + input + group + (image.isXYB ? borders : 0)
        let squeezed = base + 1.6 * samples + (frame.hasNoise ? groups * group : 0)
        rare = squeezed
        common = image.isXYB ? squeezed : base + max(samples, groupSamples)
      } else {
        let coefficients = frame.passes > 1 ? groups * side * side * 3 * 2 : 0
        let base = 9 * mebibyte + input + 0.6 * pixels + borders + coefficients
        common = base + 4 * others * shownPixels
        // All samples, and coefficients of 32 bits.
        rare = common + coefficients + (others > 0 ? groups * group + 2 * 4 * others * shownPixels : 0)
      }
    }
  }
}
