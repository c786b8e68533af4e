import CLibJPEG

/// What a source's components mean.
enum ColorModel: Sendable, Hashable {
  case grey, ycc, rgb
  /// Four inks; `inverted` where 255 stands for no ink, as Adobe's programs write them.
  case cmyk(inverted: Bool)
  /// The first three components are YCbCr of what `cmyk(inverted: true)` has in them: libjpeg tells it by Adobe's marker
  /// alone.
  case ycck

  init?(_ header: tj_header) {
    switch header.color {
    case TJ_GREY: self = .grey
    case TJ_YCC: self = .ycc
    case TJ_RGB: self = .rgb
    case TJ_CMYK: self = .cmyk(inverted: header.saw_adobe)
    case TJ_YCCK: self = .ycck
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
