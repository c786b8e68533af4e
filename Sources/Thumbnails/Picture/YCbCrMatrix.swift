/// The weights with which luma and chroma are made of red, green and blue.
///
/// Source: ITU-T H.273, table 4.
public enum YCbCrMatrix: Sendable, Hashable {
  /// JPEG's.
  case bt601
  case bt709
  case bt2020

  /// The weights of red and of blue in luma; green has the rest.
  var weights: (red: Double, blue: Double) {
    switch self {
    case .bt601: (0.299, 0.114)
    case .bt709: (0.2126, 0.0722)
    case .bt2020: (0.2627, 0.0593)
    }
  }

  /// A colour as luma and chroma of full range.
  package func ycc(_ color: RGBColor) -> [UInt8] {
    let (red, green, blue) = (Double(color.red), Double(color.green), Double(color.blue))
    let luma = weights.red * red + (1 - weights.red - weights.blue) * green + weights.blue * blue
    let values = [luma, 128 + (blue - luma) / (2 - 2 * weights.blue), 128 + (red - luma) / (2 - 2 * weights.red)]
    return values.map { UInt8(min(max($0.rounded(), 0), 255)) }
  }
}
