import CLibJPEG

/// What a source's components mean.
enum ColorModel: Sendable, Hashable {
  case grey, ycc, rgb
  /// Four inks; `inverted` where 255 stands for no ink, as Adobe's programs write them.
  case cmyk(inverted: Bool)
  /// The first three components are YCbCr of what `cmyk(inverted: true)` has in them: libjpeg tells it by Adobe's
  /// marker alone.
  case ycck

  init?(_ header: clibjpeg_header) {
    switch header.color {
    case CLIBJPEG_GREY: self = .grey
    case CLIBJPEG_YCC: self = .ycc
    case CLIBJPEG_RGB: self = .rgb
    case CLIBJPEG_CMYK: self = .cmyk(inverted: header.saw_adobe)
    case CLIBJPEG_YCCK: self = .ycck
    default: return nil
    }
  }

  /// The kind of profile that can describe it.
  var profileKind: ProfileKind {
    switch self {
    case .grey: .grey
    case .ycc, .rgb: .rgb
    case .cmyk, .ycck: .cmyk
    }
  }
}
