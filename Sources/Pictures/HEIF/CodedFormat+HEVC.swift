import Thumbnails

extension CodedFormat {
  /// The contents of the box `hvcC`. Of its parameter sets, the first sequence parameter set is read as far as it says
  /// something about colours; a damaged one is left to the decoder.
  ///
  /// Source: ISO/IEC 14496-15, 8.3.3.1.
  init(hevcConfiguration bytes: ArraySlice<UInt8>) throws(ThumbnailError) {
    var fields = BoxFields(bytes)
    guard try fields.u8() == 1 else { throw .unsupported("an HEVC configuration of an unknown version") }
    try fields.skip(15)
    let chromaFormat = try fields.u8() & 3
    let luma = try fields.u8() & 7
    let chroma = try fields.u8() & 7
    try fields.skip(3)
    self.init(chroma: Self.hevcChroma(chromaFormat), bits: 8 + max(luma, chromaFormat == 0 ? 0 : chroma))
    for _ in 0..<(try fields.u8()) {
      let type = try fields.u8() & 0x3F
      for _ in 0..<(try fields.u16()) {
        let unit = try fields.take(try fields.u16())
        guard type == HEVCParameters.sequenceParameterSet, codedPixels == nil else { continue }
        guard let parameters = try? HEVCParameters(sequenceParameterSet: unit) else { continue }
        codePoints = parameters.codePoints
        codedPixels = parameters.codedPixels
      }
    }
  }

  private static func hevcChroma(_ format: Int) -> Chroma? {
    switch format {
    case 0: nil
    case 1: Chroma(across: 2, down: 2)
    case 2: Chroma(across: 2, down: 1)
    default: Chroma(across: 1, down: 1)
    }
  }
}

/// What a sequence parameter set says about colours. They are at its end, so that everything before must be read.
///
/// Source: ITU-T H.265, 7.3.2.2 and E.2.1; the names are those of its syntax elements.
struct HEVCParameters {
  /// The type of the NAL unit.
  static let sequenceParameterSet = 33

  private(set) var codedPixels: PixelSize
  private(set) var codePoints: CodePoints

  private var bits: BitReader

  init(sequenceParameterSet unit: ArraySlice<UInt8>) throws(ThumbnailError) {
    var bits = BitReader(Self.withoutEmulationPrevention(unit.dropFirst(2)))
    try bits.skip(4)
    let maxSubLayersMinus1 = try bits.bits(3)
    try bits.skip(1)
    try Self.skipProfileTierLevel(&bits, maxSubLayersMinus1)
    _ = try bits.exponentialGolomb()
    if try bits.exponentialGolomb() == 3 { try bits.skip(1) }
    codedPixels = PixelSize(width: try bits.exponentialGolomb(), height: try bits.exponentialGolomb())
    // What has not been said: H.265, E.3.1.
    codePoints = CodePoints(primaries: 2, transfer: 2, matrix: 2, isFullRange: false)
    self.bits = bits
    try readRest(maxSubLayersMinus1)
  }

  private mutating func readRest(_ maxSubLayersMinus1: Int) throws(ThumbnailError) {
    if try bits.bit() { try skipCodes(4) }  // conformance_window_flag
    try skipCodes(2)
    let orderCountBits = try bits.exponentialGolomb() + 4
    let hasSubLayerOrdering = try bits.bit()
    try skipCodes(3 * (hasSubLayerOrdering ? maxSubLayersMinus1 + 1 : 1))
    try skipCodes(6)
    if try bits.bit(), try bits.bit() { try skipScalingLists() }
    try bits.skip(2)
    if try bits.bit() {  // pcm_enabled_flag
      try bits.skip(8)
      try skipCodes(2)
      try bits.skip(1)
    }
    try skipReferencePictureSets()
    if try bits.bit() {  // long_term_ref_pics_present_flag
      let count = try bits.exponentialGolomb()
      guard count <= 32, orderCountBits <= 16 else { throw Self.implausible }
      try bits.skip(count * (orderCountBits + 1))
    }
    try bits.skip(2)
    if try bits.bit() { try readVideoUsabilityInformation() }
  }

  private mutating func readVideoUsabilityInformation() throws(ThumbnailError) {
    if try bits.bit(), try bits.bits(8) == 255 { try bits.skip(32) }  // aspect_ratio_info_present_flag
    if try bits.bit() { try bits.skip(1) }  // overscan_info_present_flag
    guard try bits.bit() else { return }  // video_signal_type_present_flag
    try bits.skip(3)
    codePoints.isFullRange = try bits.bit()
    guard try bits.bit() else { return }  // colour_description_present_flag
    codePoints.primaries = try bits.bits(8)
    codePoints.transfer = try bits.bits(8)
    codePoints.matrix = try bits.bits(8)
  }

  private mutating func skipCodes(_ count: Int) throws(ThumbnailError) {
    for _ in 0..<count { _ = try bits.exponentialGolomb() }
  }

  /// 7.3.3.
  private static func skipProfileTierLevel(_ bits: inout BitReader, _ maxSubLayersMinus1: Int) throws(ThumbnailError) {
    try bits.skip(96)
    guard maxSubLayersMinus1 > 0 else { return }
    var present: [(profile: Bool, level: Bool)] = []
    for _ in 0..<maxSubLayersMinus1 { present.append((try bits.bit(), try bits.bit())) }
    try bits.skip(2 * (8 - maxSubLayersMinus1))
    for layer in present { try bits.skip((layer.profile ? 88 : 0) + (layer.level ? 8 : 0)) }
  }

  /// 7.3.4.
  private mutating func skipScalingLists() throws(ThumbnailError) {
    for sizeID in 0..<4 {
      for _ in stride(from: 0, to: 6, by: sizeID == 3 ? 3 : 1) {
        if try bits.bit() {  // scaling_list_pred_mode_flag
          try skipCodes(min(64, 1 << (4 + sizeID << 1)) + (sizeID > 1 ? 1 : 0))
        } else {
          try skipCodes(1)
        }
      }
    }
  }

  /// 7.3.7.
  private mutating func skipReferencePictureSets() throws(ThumbnailError) {
    let count = try bits.exponentialGolomb()
    guard count <= 64 else { throw Self.implausible }
    var pictures = 0
    for index in 0..<count {
      if index > 0, try bits.bit() {  // inter_ref_pic_set_prediction_flag
        try bits.skip(1)
        try skipCodes(1)
        var used = 0
        for _ in 0...pictures {
          if try bits.bit() {
            used += 1
          } else if try bits.bit() {
            used += 1
          }
        }
        pictures = used
      } else {
        let negative = try bits.exponentialGolomb()
        let positive = try bits.exponentialGolomb()
        guard negative <= 16, positive <= 16 else { throw Self.implausible }
        pictures = negative + positive
        for _ in 0..<pictures {
          try skipCodes(1)
          try bits.skip(1)
        }
      }
    }
  }

  /// Takes out the byte 3 after two zero bytes (7.3.1.1).
  private static func withoutEmulationPrevention(_ unit: ArraySlice<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(unit.count)
    var zeros = 0
    for byte in unit {
      if zeros >= 2, byte == 3 {
        zeros = 0
        continue
      }
      zeros = byte == 0 ? zeros + 1 : 0
      bytes.append(byte)
    }
    return bytes
  }

  private static let implausible = ThumbnailError.damaged("a parameter of the coded picture is too large")
}
