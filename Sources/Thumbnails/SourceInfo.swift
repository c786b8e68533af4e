import CLibJPEG

/// What a source's header tells.
public struct SourceInfo: Sendable {
  /// Width and height as stored.
  public let pixels: PixelSize
  /// How the picture is to be turned.
  public let orientation: Orientation
  /// Progressive JPEG: every coefficient has to be held until the last scan is read.
  public let isProgressive: Bool
  /// Whether a colour profile is embedded that could be put together from its parts.
  public let hasProfile: Bool
  /// Remarks on what was passed over in decoding, at most one of each kind. Empty before decoding.
  public internal(set) var warnings: [String] = []
  /// Whether libjpeg holds every coefficient: progressive, or one scan for each component.
  let isMultiscan: Bool
  /// Columns and rows of blocks, and sampling factors, of each component.
  let sampling: [(h: Int, v: Int)]

  /// Width and height as looked at.
  public var orientedPixels: PixelSize { orientation.apply(to: pixels) }

  init(_ header: tj_header, orientation: Orientation, hasProfile: Bool) {
    pixels = PixelSize(width: Int(header.width), height: Int(header.height))
    self.orientation = orientation
    self.hasProfile = hasProfile
    isProgressive = header.progressive
    isMultiscan = header.multiscan
    let h = [header.h.0, header.h.1, header.h.2, header.h.3]
    let v = [header.v.0, header.v.1, header.v.2, header.v.3]
    sampling = (0..<Int(header.components)).map { (Int(h[$0]), Int(v[$0])) }
  }
}
