import CDecoding
import Thumbnails

/// What the header of a picture says, and how its samples are found. It is read without any of the libraries that decode
/// pictures.
public struct PictureHeader: Sendable {
  /// The largest width and height of a picture, as in a decoder's request.
  static let largestSide = Int(CDECODING_MAX_SIDE)

  public let type: ImageType
  /// Width and height as stored, without the margins that are cut off for display.
  public let pixels: PixelSize
  /// How the picture must be turned for display.
  public var orientation = Orientation.upright
  /// What the decoded samples mean.
  public let components: Components
  /// Whether pixels may be transparent.
  public var hasAlpha = false
  /// Whether the colours of tiles are multiplied by their alpha already.
  public var isPremultiplied = false
  /// The colour where no tile is, if there are such places, or if tiles lie on each other or are transparent; earlier ones
  /// are above.
  public var canvas: RGBColor?
  /// How the samples' values correspond to colours.
  public var color = ColorDescription.unknown
  /// The TIFF structure with the EXIF tags; nil if there is none. It is at most ``longestBlock`` bytes long.
  public var exif: FileExtent?
  /// How the samples are coded.
  public let coding: Coding
  /// The memory that decoding takes at most, in bytes, besides the sums and planes of means.
  public let workingBytes: Int
  /// The memory, in bytes, that decoding takes beyond ``workingBytes`` in rare pictures, of which the header does not tell.
  /// What fails for want of memory is decoded a second time, with this; 0 if that does not help.
  public var rareBytes = 0
  /// What is right about the file but not shown, such as further frames or a range that is reduced.
  public var remarks: [String] = []
  /// The count of pixels of the picture that the file is of, if only smaller versions of it can be shown, and if it is known.
  public var wholePixelCount: Int?
  /// Smaller versions of the same picture in the file, each a whole header of its own, with its own orientation and
  /// colours: embedded thumbnails, reduced pages, previews. They have about the same shape, and are in any order.
  public var reduced: [PictureHeader] = []

  /// The most bytes of a profile or an EXIF block that are read.
  public static let longestBlock = 4 << 20

  public init(type: ImageType, pixels: PixelSize, components: Components, coding: Coding, workingBytes: Int) {
    self.type = type
    self.pixels = pixels
    self.components = components
    self.coding = coding
    self.workingBytes = workingBytes
  }

  /// The bytes of the profile at most.
  var profileBytes: Int {
    switch color {
    case .profile(let extent): Int(extent.size)
    case .compressedProfile(let longest): longest
    case .unknown, .sRGB, .numbered, .power: 0
    }
  }

  /// Width and height as displayed.
  public var orientedPixels: PixelSize { orientation.apply(to: pixels) }

  /// The meaning of the decoded samples.
  public enum Components: Sendable, Hashable {
    case grey(YCbCrRange)
    case rgb
    /// Luma and chroma. A chroma sample covers `across` × `down` pixels.
    case ycc(YCbCrMatrix, YCbCrRange, across: Int, down: Int)
    /// Four inks, of which 255 is full.
    case cmyk
  }

  /// How the samples are coded, for the decoder.
  public enum Coding: Sendable, Hashable {
    /// The file begins at this offset, which is not 0 in an icon.
    case png(at: UInt64)
    case gif
    case webp(WebPFrame)
    /// One page, by the offset of its directory.
    case tiff(directory: UInt64)
    /// Pictures that make up the whole. Those with alpha come first; on a canvas, each before the one that it is the alpha of. If the components are RGB, they are coded in the order
    /// green, blue, red.
    case tiles(TileCodec, [PictureTile])
    /// A JPEG file inside the file.
    case jpeg(FileExtent)
    case raster(RasterLayout)
    case psd(PSDLayout)
    case jxl
    case jp2(JP2Coding)
  }

  /// The codec of tiles.
  public enum TileCodec: Sendable, Hashable { case hevc, av1 }
}

/// The values that luma and chroma use.
public enum YCbCrRange: Sendable, Hashable {
  /// 0 to 255, at 8 bits.
  case full
  /// Luma 16 to 235, chroma 16 to 240.
  case limited
}

/// A part of a file.
public struct FileExtent: Sendable, Hashable {
  /// The first byte.
  public var offset: UInt64
  /// The count of bytes.
  public var size: UInt64

  public init(offset: UInt64, size: UInt64) { (self.offset, self.size) = (offset, size) }
}

/// The first frame of a WebP file; the only one if the picture does not move.
public struct WebPFrame: Sendable, Hashable {
  /// Where its first pixel is on the canvas.
  public var x: Int
  public var y: Int
  public var pixels: PixelSize
  /// Coded as VP8 rather than VP8L.
  public var isLossy: Bool
  /// Whether the decoder can scale it: if it covers the canvas.
  public var isScalable: Bool
  /// Its chunks with their headers: `ALPH` if there is one, then `VP8 ` or `VP8L`. They may end after the file does.
  public var chunks: [FileExtent]

  public init(x: Int, y: Int, pixels: PixelSize, isLossy: Bool, isScalable: Bool, chunks: [FileExtent]) {
    (self.x, self.y, self.pixels) = (x, y, pixels)
    (self.isLossy, self.isScalable, self.chunks) = (isLossy, isScalable, chunks)
  }
}

/// One coded picture of several that make up the whole one.
public struct PictureTile: Sendable, Hashable {
  /// Where its first pixel is in the whole picture; what is outside is not shown.
  public var x: Int
  public var y: Int
  public var pixels: PixelSize
  /// The coded data: these parts of the file, one after the other.
  public var data: [FileExtent]
  /// The decoder configuration record: the contents of the box `hvcC` or `av1C`.
  public var configuration: FileExtent
  /// Whether its luma is the alpha of the whole picture.
  public var isAlpha: Bool
  /// AV1: the layer that is shown; nil for the last one.
  public var layer: Int?

  public init(
    x: Int, y: Int, pixels: PixelSize, data: [FileExtent], configuration: FileExtent, isAlpha: Bool = false
  ) {
    (self.x, self.y, self.pixels) = (x, y, pixels)
    (self.data, self.configuration, self.isAlpha) = (data, configuration, isAlpha)
  }
}
