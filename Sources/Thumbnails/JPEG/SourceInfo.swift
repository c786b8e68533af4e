import CLibJPEG

/// The information in a source's header.
public struct SourceInfo: Sendable {
  /// Width and height as stored.
  public let pixels: PixelSize
  /// How the picture must be turned for display.
  public let orientation: Orientation
  /// Whether the file is progressive; libjpeg then holds every coefficient until the last scan.
  public let isProgressive: Bool
  /// Whether there is a complete colour profile.
  public var hasProfile: Bool { profileSize > 0 }
  /// Flaws that did not end decoding: the decoder's first warning of each class, and missing scans. Empty before
  /// decoding.
  public internal(set) var warnings: [String] = []
  /// Bytes of the embedded profile and of the EXIF block.
  let profileSize: Int
  let exifSize: Int
  /// Whether libjpeg holds every coefficient: the file is progressive, or its components are in several scans.
  let isMultiscan: Bool
  /// Whether the file uses arithmetic rather than Huffman coding.
  let isArithmetic: Bool
  /// Whether the component is grey or the components are YCbCr, which can be resized without conversion.
  let isYCbCr: Bool
  /// Sampling factors of each component.
  let sampling: [(h: Int, v: Int)]

  /// Width and height as displayed.
  public var orientedPixels: PixelSize { orientation.apply(to: pixels) }

  init(_ decoder: JPEGDecoder, orientation: Orientation? = nil) {
    let header = decoder.header
    pixels = PixelSize(width: Int(header.width), height: Int(header.height))
    self.orientation = orientation ?? ExifOrientation.read(decoder.exif)
    profileSize = header.icc_size
    exifSize = decoder.exif.count
    isProgressive = header.progressive
    isYCbCr = header.color == CLIBJPEG_GREY || header.color == CLIBJPEG_YCC
    isMultiscan = header.multiscan
    isArithmetic = header.arithmetic
    let h = [header.h.0, header.h.1, header.h.2, header.h.3]
    let v = [header.v.0, header.v.1, header.v.2, header.v.3]
    sampling = (0..<Int(header.components)).map { (Int(h[$0]), Int(v[$0])) }
  }
}
