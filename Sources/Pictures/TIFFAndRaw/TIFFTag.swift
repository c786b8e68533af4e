/// The tags that are read from TIFF directories.
///
/// *Source*: TIFF 6.0, appendix A; TIFF/EP (ISO 12234-2); Exif 2.32; DNG 1.7. Those of makers are known from ExifTool's
/// tables.
struct TIFFTag: RawRepresentable, Hashable {
  let rawValue: UInt16

  static let newSubfileType = TIFFTag(rawValue: 0x00FE)
  static let subfileType = TIFFTag(rawValue: 0x00FF)
  static let imageWidth = TIFFTag(rawValue: 0x0100)
  static let imageLength = TIFFTag(rawValue: 0x0101)
  static let bitsPerSample = TIFFTag(rawValue: 0x0102)
  static let compression = TIFFTag(rawValue: 0x0103)
  static let photometricInterpretation = TIFFTag(rawValue: 0x0106)
  static let fillOrder = TIFFTag(rawValue: 0x010A)
  static let make = TIFFTag(rawValue: 0x010F)
  static let model = TIFFTag(rawValue: 0x0110)
  static let stripOffsets = TIFFTag(rawValue: 0x0111)
  static let orientation = TIFFTag(rawValue: 0x0112)
  static let samplesPerPixel = TIFFTag(rawValue: 0x0115)
  static let rowsPerStrip = TIFFTag(rawValue: 0x0116)
  static let stripByteCounts = TIFFTag(rawValue: 0x0117)
  static let planarConfiguration = TIFFTag(rawValue: 0x011C)
  static let predictor = TIFFTag(rawValue: 0x013D)
  static let tileWidth = TIFFTag(rawValue: 0x0142)
  static let tileLength = TIFFTag(rawValue: 0x0143)
  static let tileOffsets = TIFFTag(rawValue: 0x0144)
  static let tileByteCounts = TIFFTag(rawValue: 0x0145)
  static let subIFDs = TIFFTag(rawValue: 0x014A)
  static let inkSet = TIFFTag(rawValue: 0x014C)
  static let extraSamples = TIFFTag(rawValue: 0x0152)
  static let jpegTables = TIFFTag(rawValue: 0x015B)
  static let jpegInterchangeFormat = TIFFTag(rawValue: 0x0201)
  static let jpegInterchangeFormatLength = TIFFTag(rawValue: 0x0202)
  static let yCbCrSubSampling = TIFFTag(rawValue: 0x0212)
  /// What came before ExtraSamples.
  static let matteing = TIFFTag(rawValue: 0x80E3)
  static let exifIFD = TIFFTag(rawValue: 0x8769)
  static let dateTimeOriginal = TIFFTag(rawValue: 0x9003)
  static let offsetTimeOriginal = TIFFTag(rawValue: 0x9011)
  static let iccProfile = TIFFTag(rawValue: 0x8773)
  static let makerNote = TIFFTag(rawValue: 0x927C)
  static let dngVersion = TIFFTag(rawValue: 0xC612)
  static let dngPrivateData = TIFFTag(rawValue: 0xC634)

  /// Panasonic: the whole JPEG.
  static let panasonicJPEG = TIFFTag(rawValue: 0x002E)

  // In maker notes.
  static let nikonPreviewIFD = TIFFTag(rawValue: 0x0011)
  static let olympusCameraSettings = TIFFTag(rawValue: 0x2020)
  static let pentaxPreviewLength = TIFFTag(rawValue: 0x0003)
  static let pentaxPreviewStart = TIFFTag(rawValue: 0x0004)
  static let olympusSettingsPreviewStart = TIFFTag(rawValue: 0x0101)
  static let olympusSettingsPreviewLength = TIFFTag(rawValue: 0x0102)
  static let olympusOldPreviewStart = TIFFTag(rawValue: 0x0088)
  static let olympusOldPreviewLength = TIFFTag(rawValue: 0x0089)
  static let olympusPreviewStart = TIFFTag(rawValue: 0x1036)
  static let olympusPreviewLength = TIFFTag(rawValue: 0x1037)

  // In the index of a multi-picture file.
  static let mpEntry = TIFFTag(rawValue: 0xB002)
}
