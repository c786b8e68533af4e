/// How many chroma samples a thumbnail has: 4:2:0 half as many columns and rows as luma (smaller files), 4:4:4 as many.
public enum ChromaSubsampling: String, Sendable, CaseIterable {
  case s420 = "420"
  case s444 = "444"
}

/// How broken a source has to be for its thumbnail to be refused; each level refuses what the one before does.
public enum FailOn: String, Sendable, CaseIterable {
  /// Samples are missing: the file is cut off.
  case truncated
  /// Samples are wrong: the data is corrupt.
  case error
  /// Anything at all the decoder remarks upon, also where the picture is whole.
  case warning
}

/// What of a source's metadata goes into its thumbnails. Nothing, unless asked for.
public struct KeptMetadata: OptionSet, Sendable, Hashable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The embedded colour profile, which is then not converted to sRGB. A CMYK profile is never kept: its picture is
  /// always converted.
  public static let icc = KeptMetadata(rawValue: 1)
  /// The EXIF block, with orientation and pixel counts put right and the embedded preview left out.
  public static let exif = KeptMetadata(rawValue: 2)
  /// Of the EXIF block, the tags Artist and Copyright alone.
  public static let copyright = KeptMetadata(rawValue: 4)
}

/// How thumbnails are to be made.
public struct ThumbnailOptions: Sendable, Hashable {
  /// The sizes, all made from one decoding. At least one.
  public var sizes: [SizeSpec]
  /// JPEG quality, 1-100; values outside are taken as the nearest.
  public var quality: Int
  /// Progressive rather than baseline JPEG.
  public var progressive: Bool
  public var subsampling: ChromaSubsampling
  public var keep: KeptMetadata
  /// Average light rather than sRGB values when resizing: slower by far, since the whole source has to be decoded at
  /// full size, and right for fine bright patterns.
  public var linear: Bool
  public var failOn: FailOn
  /// The most pixels a source, or one thumbnail, may have.
  public var limitPixels: Int

  public init(
    sizes: [SizeSpec], quality: Int = 80, progressive: Bool = false, subsampling: ChromaSubsampling = .s420,
    keep: KeptMetadata = [], linear: Bool = false, failOn: FailOn = .error, limitPixels: Int = 1_000_000_000
  ) {
    self.sizes = sizes
    self.quality = quality
    self.progressive = progressive
    self.subsampling = subsampling
    self.keep = keep
    self.linear = linear
    self.failOn = failOn
    self.limitPixels = limitPixels
  }
}
