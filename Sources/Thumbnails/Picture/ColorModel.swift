import CLibJPEG

/// The meaning of a source's components.
package enum ColorModel: Sendable, Hashable {
  case grey, rgb
  /// Luma and chroma, of full range.
  case ycc(YCbCrMatrix)
  /// Four inks; `inverted` if 255 means no ink, as in JPEG files.
  case cmyk(inverted: Bool)
  /// As `cmyk(inverted: true)`, but with the first three components converted to YCbCr. libjpeg detects it by Adobe's
  /// marker only.
  case ycck

  init?(_ header: clibjpeg_header) {
    switch header.color {
    case CLIBJPEG_GREY: self = .grey
    case CLIBJPEG_YCC: self = .ycc(.bt601)
    case CLIBJPEG_RGB: self = .rgb
    // Adobe's programs write inks so, and say it with a marker. Without the marker, too, all other programs read them so.
    case CLIBJPEG_CMYK: self = .cmyk(inverted: true)
    case CLIBJPEG_YCCK: self = .ycck
    default: return nil
    }
  }

  /// The kind of profile that can describe such colours.
  var profileKind: ProfileKind {
    switch self {
    case .grey: .grey
    case .ycc, .rgb: .rgb
    case .cmyk, .ycck: .cmyk
    }
  }
}

/// The colours that a profile describes: the "data colour space" of its header.
enum ProfileKind: Sendable, Hashable { case grey, rgb, cmyk }

extension ThumbnailOptions {
  /// The metadata that thumbnails of such a picture keep. A WebP file has no grey, so no profile of grey fits it.
  func kept(of model: ColorModel) -> KeptMetadata {
    model == .grey && formats.contains(.webp) ? keep.subtracting(.icc) : keep
  }
}
