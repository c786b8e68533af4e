import Thumbnails

extension CodedFormat {
  /// The contents of the box `av1C`. Its own fields only count if it has no sequence header, because some programs write
  /// others: 4:4:4 for 4:2:2. Colours are known only with a header.
  ///
  /// Source: AV1 Codec ISO Media File Format Binding, 2.3.
  init(av1Configuration bytes: ArraySlice<UInt8>) throws(ThumbnailError) {
    var fields = BoxFields(bytes)
    guard try fields.u8() == 0x81 else { throw .unsupported("an AV1 configuration of an unknown version") }
    try fields.skip(1)
    let flags = try fields.u8()
    try fields.skip(1)
    let isMonochrome = flags & 0x10 != 0
    let chroma = Chroma(across: flags & 8 != 0 ? 2 : 1, down: flags & 4 != 0 ? 2 : 1)
    self.init(chroma: isMonochrome ? nil : chroma, bits: flags & 0x40 == 0 ? 8 : flags & 0x20 == 0 ? 10 : 12)
    readSequenceHeader(in: try fields.take(fields.remaining))
  }

  /// Adds what the first sequence header in a series of open bitstream units says. A damaged one is left to the decoder.
  mutating func readSequenceHeader(in units: ArraySlice<UInt8>) {
    guard let unit = Self.sequenceHeader(in: units) else { return }
    var format = self
    guard (try? format.read(sequenceHeader: unit)) != nil else { return }
    self = format
  }

  private static func sequenceHeader(in units: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    var rest = units
    // A sequence header is first or second, after a temporal delimiter.
    for _ in 0..<4 {
      guard let header = rest.popFirst(), header & 0x80 == 0 else { return nil }
      if header & 4 != 0 { rest = rest.dropFirst() }
      var size = rest.count
      if header & 2 != 0 {
        guard let coded = variableLength(&rest) else { return nil }
        size = min(size, coded)
      }
      if header >> 3 & 15 == 1 { return rest.prefix(size) }
      rest = rest.dropFirst(size)
    }
    return nil
  }

  /// `leb128()`, of which the first 4 bytes are enough here.
  private static func variableLength(_ bytes: inout ArraySlice<UInt8>) -> Int? {
    var value = 0
    for index in 0..<4 {
      guard let byte = bytes.popFirst() else { return nil }
      value |= Int(byte & 0x7F) << (7 * index)
      if byte & 0x80 == 0 { return value }
    }
    return nil
  }

  /// Source: AV1 Bitstream & Decoding Process, 5.5; the names are those of its syntax elements.
  private mutating func read(sequenceHeader unit: ArraySlice<UInt8>) throws(ThumbnailError) {
    var bits = BitReader(unit)
    let profile = try bits.bits(3)
    let isStill = try bits.bit()
    let isReduced = try bits.bit()
    if isReduced {
      try bits.skip(5)
    } else {
      try Self.skipOperatingPoints(&bits)
    }
    let widthBits = try bits.bits(4) + 1
    let heightBits = try bits.bits(4) + 1
    try bits.skip(widthBits + heightBits)
    if !isReduced, try bits.bit() { try bits.skip(7) }  // frame_id_numbers_present_flag
    try bits.skip(3)
    if !isReduced { try Self.skipTools(&bits) }
    let isScaled = try bits.bit()  // enable_superres
    try bits.skip(2)
    try readColorConfiguration(&bits, profile)
    picturesHeld = isStill && !isScaled ? 1 : 2
  }

  private static func skipOperatingPoints(_ bits: inout BitReader) throws(ThumbnailError) {
    var delayBits: Int?
    if try bits.bit() {  // timing_info_present_flag
      try bits.skip(64)
      if try bits.bit() { _ = try bits.exponentialGolomb() }
      if try bits.bit() {  // decoder_model_info_present_flag
        delayBits = try bits.bits(5) + 1
        try bits.skip(42)
      }
    }
    let hasInitialDelay = try bits.bit()
    for _ in 0...(try bits.bits(5)) {
      try bits.skip(12)
      if try bits.bits(5) > 7 { try bits.skip(1) }
      if let delayBits, try bits.bit() { try bits.skip(2 * delayBits + 1) }
      if hasInitialDelay, try bits.bit() { try bits.skip(4) }
    }
  }

  private static func skipTools(_ bits: inout BitReader) throws(ThumbnailError) {
    try bits.skip(4)
    let hasOrderHint = try bits.bit()
    if hasOrderHint { try bits.skip(2) }
    let choosesScreenContentTools = try bits.bit()
    let forcesScreenContentTools = choosesScreenContentTools ? true : try bits.bit()
    if forcesScreenContentTools, try !bits.bit() { try bits.skip(1) }  // seq_choose_integer_mv
    if hasOrderHint { try bits.skip(3) }
  }

  /// 5.5.2.
  private mutating func readColorConfiguration(
    _ bits: inout BitReader, _ profile: Int
  ) throws(ThumbnailError) {
    let hasManyBits = try bits.bit()
    let has12Bits = profile == 2 && hasManyBits ? try bits.bit() : false
    self.bits = has12Bits ? 12 : hasManyBits ? 10 : 8
    let isMonochrome = profile == 1 ? false : try bits.bit()
    var points = CodePoints(primaries: 2, transfer: 2, matrix: 2, isFullRange: true)
    if try bits.bit() {  // color_description_present_flag
      points.primaries = try bits.bits(8)
      points.transfer = try bits.bits(8)
      points.matrix = try bits.bits(8)
    }
    // sRGB in RGB has full range.
    let isRGB = !isMonochrome && points.primaries == 1 && points.transfer == 13 && points.matrix == 0
    if !isRGB { points.isFullRange = try bits.bit() }
    codePoints = points
    chroma = isMonochrome ? nil : isRGB ? Chroma(across: 1, down: 1) : try chroma(&bits, profile)
  }

  private func chroma(_ reader: inout BitReader, _ profile: Int) throws(ThumbnailError) -> Chroma {
    switch profile {
    case 0: return Chroma(across: 2, down: 2)
    case 1: return Chroma(across: 1, down: 1)
    // 4:2:2, unless samples have 12 bits.
    case _ where bits < 12: return Chroma(across: 2, down: 1)
    default:
      let isHalvedAcross = try reader.bit()
      let isHalvedDown = isHalvedAcross ? try reader.bit() : false
      return Chroma(across: isHalvedAcross ? 2 : 1, down: isHalvedDown ? 2 : 1)
    }
  }
}
