import Thumbnails

/// The headers of the frames up to the first one that is shown.
struct JXLFrames {
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
