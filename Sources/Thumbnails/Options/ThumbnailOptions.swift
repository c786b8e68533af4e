/// The resolution of a thumbnail's chroma. With 4:2:0, chroma has half of luma's columns and rows, which makes smaller
/// files; with 4:4:4 it has all of them.
public enum ChromaSubsampling: String, Sendable, CaseIterable {
  case s420 = "420"
  case s444 = "444"
  /// 4:4:4 for thumbnails of at most 48 × 48 pixels, whose details 4:2:0 would blur; 4:2:0 for larger ones.
  case auto
}

/// The faults of a source that make its thumbnails fail. Each level includes those before it.
///
/// What the thumbnails are made of is judged. Except for `warning`, the scans of a progressive file that only add details
/// which they do not show are skipped, and faults there are not noticed. ``SourceInfo/warnings`` has the flaws that are
/// no reason to fail, such as a missing EOI marker, or missing last scans of a file that has this marker.
public enum FailOn: String, Sendable, CaseIterable {
  /// Samples are missing, or cannot be decoded. A file without an EOI marker is decoded as a whole to find out.
  case truncated
  /// Samples are missing or corrupt.
  case error
  /// The whole file is decoded, and the decoder gives any warning.
  case warning
}

/// The metadata of a source that is copied into its thumbnails.
public struct KeptMetadata: OptionSet, Sendable, Hashable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The embedded colour profile. If it is kept, the picture is not converted to sRGB. A CMYK profile is never kept,
  /// because its picture is always converted.
  public static let icc = KeptMetadata(rawValue: 1)
  /// The EXIF block, with orientation and pixel counts corrected, and without the embedded preview and the place where
  /// the photo was taken: neither the GPS directory nor the camera maker's notes, which may name it too.
  ///
  /// The value 2 stood for the block with the place. It is not used again, so that no thumbnail with a place is taken for
  /// up to date.
  public static let exif = KeptMetadata(rawValue: 16)
  /// Only the tags Artist and Copyright of the EXIF block.
  public static let copyright = KeptMetadata(rawValue: 4)
  /// The place where the photo was taken, with the rest of the EXIF block: ``exif`` and also what it leaves out of the GPS
  /// directory and the maker's notes.
  public static let gps = KeptMetadata(rawValue: 8)

  /// Whether a profile of a grey or RGB picture stays, and the colours as they are. A build without Little CMS cannot convert
  /// them.
  var leavesProfile: Bool {
    #if Formats
    contains(.icc)
    #else
    true
    #endif
  }
}

/// Whether the smaller pictures that cameras put into files are used.
public enum Previews: String, Sendable, CaseIterable {
  /// Those of RAW and HEIC files.
  case auto
  /// Those of JPEG files too.
  case prefer
  case never
}

/// How thumbnails are made.
public struct ThumbnailOptions: Sendable, Hashable {
  /// The sizes, at least one. All are made from one decoding.
  public var sizes: [SizeSpec] { didSet { checkSizes() } }
  /// The formats of each size, at least one.
  package var formats: [ThumbnailFormat] = [.jpeg]
  /// JPEG quality, 1-100; other values count as the nearest of these. In other formats, what looks as much like the source.
  public var quality: Int
  /// Whether the samples of thumbnails stay as they are, in formats that can be lossless.
  package var lossless = false
  /// How much time is spent on smaller files in formats other than JPEG, 0 to 9; nil for what is usual.
  package var effort: Int?
  /// Whether thumbnails are progressive rather than baseline JPEGs.
  public var progressive: Bool
  /// The fewest pixels of a thumbnail that is made progressive. Smaller ones take more bytes so than as baseline files.
  package var leastProgressivePixels = 0
  public var subsampling: ChromaSubsampling
  public var keep: KeptMetadata
  /// Whether resizing averages linear light rather than sRGB values. This preserves the brightness of fine bright
  /// patterns, but is much slower, because the source has to be decoded at full size.
  public var linear: Bool
  public var failOn: FailOn
  /// The colour where a picture is transparent; nil for white in JPEG, and for nothing in formats that can be transparent.
  public var background: RGBColor?
  public var previews: Previews
  /// The most pixels that a source, or one thumbnail, may have.
  public var limitPixels: Int
  /// Whether each source also gets a ``Placeholder``, which is made of its first thumbnail.
  public var makesPlaceholder: Bool

  public init(
    sizes: [SizeSpec], quality: Int = 80, progressive: Bool = false, subsampling: ChromaSubsampling = .auto,
    keep: KeptMetadata = [], linear: Bool = false, failOn: FailOn = .error, background: RGBColor? = nil,
    previews: Previews = .auto, limitPixels: Int = 1_000_000_000, makesPlaceholder: Bool = false
  ) {
    self.sizes = sizes
    self.quality = quality
    self.progressive = progressive
    self.subsampling = subsampling
    self.keep = keep
    self.linear = linear
    self.failOn = failOn
    self.background = background
    self.previews = previews
    self.limitPixels = limitPixels
    self.makesPlaceholder = makesPlaceholder
    checkSizes()
  }

  private func checkSizes() { precondition(!sizes.isEmpty, "there must be a size to make") }

  /// Whether a thumbnail of so many pixels is progressive.
  func isProgressive(pixelCount: Int) -> Bool { progressive && pixelCount >= leastProgressivePixels }

  /// The largest sides of a thumbnail that gets full chroma by default, in pixels.
  package static let iconSide = 48
}
