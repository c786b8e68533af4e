import Thumbnails

/// A property of a picture item, as far as it matters here.
enum ItemProperty {
  /// The size of the stored picture (`ispe`).
  case size(PixelSize)
  case step(PictureGeometry.Step)
  /// A decoder configuration record, where it is and what it says.
  case configuration(PictureHeader.TileCodec, FileExtent, CodedFormat)
  case codePoints(CodePoints)
  case profile(FileExtent)
  case auxiliaryType(String)
  /// The one layer of a coded picture that is shown (`lsel`).
  case layer(Int)
  /// What changes nothing in the picture.
  case irrelevant
  /// What cannot be followed, although it may be essential.
  case unknown(FourCC)

  /// The most bytes of a decoder configuration that are read.
  private static let longestConfiguration = 64 << 10

  init(_ box: Box, _ reader: BoxReader) throws(ThumbnailError) {
    switch box.type {
    case "colr": self = try Self.color(box, reader)
    case "hvcC":
      let bytes = try reader.bytes(box.contents, atMost: Self.longestConfiguration)
      self = .configuration(.hevc, box.contents, try CodedFormat(hevcConfiguration: bytes))
    case "av1C":
      let bytes = try reader.bytes(box.contents, atMost: Self.longestConfiguration)
      self = .configuration(.av1, box.contents, try CodedFormat(av1Configuration: bytes))
    case "pixi", "pasp", "clli", "mdcv", "cclv", "amve", "rloc", "udes", "lhvC": self = .irrelevant
    case "ispe", "clap", "irot", "imir", "auxC", "a1op", "lsel":
      self = try Self.short(box.type, reader.fields(box.contents, atMost: 4096))
    default: self = .unknown(box.type)
    }
  }

  private static func short(_ type: FourCC, _ fields: BoxFields) throws(ThumbnailError) -> ItemProperty {
    var fields = fields
    switch type {
    case "ispe":
      try fields.skip(4)
      return .size(PixelSize(width: Int(try fields.u32()), height: Int(try fields.u32())))
    case "clap":
      // Numerators and denominators; those of the offsets are signed.
      let size = (try ratio(&fields), try ratio(&fields))
      let shift = (try ratio(&fields, isSigned: true), try ratio(&fields, isSigned: true))
      return .step(.cut(width: size.0, height: size.1, right: shift.0, down: shift.1))
    case "irot": return .step(.turn(try fields.u8() & 3))
    // The first edition's words can be read in two ways; the second edition decides for this one (6.5.12.3).
    case "imir": return .step(try fields.u8() & 1 == 0 ? .swapTopAndBottom : .swapLeftAndRight)
    case "auxC":
      try fields.skip(4)
      return .auxiliaryType(try fields.string())
    // The first operating point is decoded, and its last layer.
    case "a1op": return try fields.u8() == 0 ? .irrelevant : .unknown(type)
    default:
      // The last layer, as without this property.
      let layer = try fields.u16()
      return layer == 0xFFFF ? .irrelevant : .layer(layer)
    }
  }

  private static func ratio(_ fields: inout BoxFields, isSigned: Bool = false) throws(ThumbnailError) -> Double {
    let numerator = isSigned ? Double(try fields.signed(4)) : Double(try fields.u32())
    let denominator = Double(try fields.u32())
    guard denominator > 0 else { throw .damaged("the clean aperture has a denominator of 0") }
    return numerator / denominator
  }

  /// ISO/IEC 14496-12, 12.1.5.
  private static func color(_ box: Box, _ reader: BoxReader) throws(ThumbnailError) -> ItemProperty {
    var fields = try reader.fields(
      FileExtent(offset: box.contents.offset, size: min(box.contents.size, 11)), atMost: 11)
    switch try fields.fourCC() {
    case "nclx":
      let (primaries, transfer, matrix) = (try fields.u16(), try fields.u16(), try fields.u16())
      let isFullRange = try fields.u8() & 0x80 != 0
      return .codePoints(
        CodePoints(primaries: primaries, transfer: transfer, matrix: matrix, isFullRange: isFullRange))
    case "prof", "rICC":
      return .profile(FileExtent(offset: box.contents.offset + 4, size: box.contents.size - 4))
    default: return .irrelevant
    }
  }
}
