import Foundation

/// How the values of a decoded picture correspond to colours.
package enum ColorEncoding: Sendable, Hashable {
  /// As in sRGB, or unknown.
  case sRGB
  /// As an ICC profile says.
  case profile([UInt8])
  /// By the numbers of primaries and transfer characteristics in ITU-T H.273, tables 2 and 3. Numbers without a meaning
  /// here count as sRGB's.
  case numbered(primaries: Int, transfer: Int)
  /// Light is a sample's value to the power of this exponent. The chromaticities are x and y of white, red, green and blue;
  /// those of sRGB if nil.
  case power(Double, chromaticities: [Double]?)
}

/// The chromaticities of white and of the three primaries.
struct Primaries: Equatable {
  /// x and y of white, red, green and blue.
  let values: [Double]

  static let bt709 = Primaries(values: [0.3127, 0.3290, 0.64, 0.33, 0.30, 0.60, 0.15, 0.06])

  /// Source: ITU-T H.273, table 2.
  init(number: Int) {
    let d65 = [0.3127, 0.3290]
    let c = [0.310, 0.316]
    values =
      switch number {
      case 4: c + [0.67, 0.33, 0.21, 0.71, 0.14, 0.08]
      case 5: d65 + [0.64, 0.33, 0.29, 0.60, 0.15, 0.06]
      case 6, 7: d65 + [0.630, 0.340, 0.310, 0.595, 0.155, 0.070]
      case 8: c + [0.681, 0.319, 0.243, 0.692, 0.145, 0.049]
      case 9: d65 + [0.708, 0.292, 0.170, 0.797, 0.131, 0.046]
      case 11: [0.314, 0.351, 0.680, 0.320, 0.265, 0.690, 0.150, 0.060]
      case 12: d65 + [0.680, 0.320, 0.265, 0.690, 0.150, 0.060]
      case 22: d65 + [0.630, 0.340, 0.295, 0.605, 0.155, 0.077]
      default: Self.bt709.values
      }
  }

  init(values: [Double]) { self.values = values }

  /// Primaries that a file gives; nil if they describe no colours.
  init?(given values: [Double]) {
    guard values.count == 8, values.allSatisfy({ $0.isFinite && (0...1).contains($0) }) else { return nil }
    let (white, red, green, blue) = (values[0..<2], values[2..<4], values[4..<6], values[6..<8])
    let area = (red[2] - blue[6]) * (green[5] - blue[7]) - (green[4] - blue[6]) * (red[3] - blue[7])
    guard white[1] > 0.01, abs(area) > 0.001 else { return nil }
    self.values = values
  }
}

/// The curve from samples to light, both 0 to 1. The light of white is 1.
enum TransferCurve: Equatable {
  case sRGB
  case power(Double)
  /// SMPTE ST 2084. What is brighter than white is compressed.
  case pq
  /// ARIB STD-B67. What is brighter than white is compressed.
  case hlg

  /// The curves of video (1, 6, 14 and 15) are shown as sRGB's, as browsers do.
  ///
  /// Source: ITU-T H.273, table 3.
  init(number: Int) {
    self =
      switch number {
      case 4: .power(2.2)
      case 5: .power(2.8)
      case 8: .power(1)
      case 16: .pq
      case 18: .hlg
      default: .sRGB
      }
  }

  /// An exponent near that of sRGB's curve means sRGB's curve: files say 2.2 for want of a better number.
  init(exponent: Double) { self = abs(exponent - 2.2) < 0.11 ? .sRGB : .power(min(max(exponent, 0.1), 10)) }

  /// The brightness of white in a picture of high dynamic range, in cd/m² (ITU-R BT.2408).
  private static let white = 203.0

  /// The light of a sample.
  func light(_ sample: Double) -> Double {
    switch self {
    case .sRGB: sample <= 0.04045 ? sample / 12.92 : pow((sample + 0.055) / 1.055, 2.4)
    case .power(let exponent): pow(sample, exponent)
    case .pq: Self.compress(10_000 * Self.linearPQ(sample) / Self.white)
    // With the gamma of a screen of 1000 cd/m².
    case .hlg: Self.compress(1000 * pow(Self.linearHLG(sample), 1.2) / Self.white)
    }
  }

  /// Leaves the lower half as it is, and compresses everything above it to less than 1.
  private static func compress(_ light: Double) -> Double {
    let knee = 0.5
    return light <= knee ? light : 1 - knee * knee / light
  }

  /// Source: ITU-R BT.2100, table 4.
  private static func linearPQ(_ sample: Double) -> Double {
    let (m1, m2) = (2610.0 / 16384, 2523.0 / 4096 * 128)
    let (c1, c2, c3) = (3424.0 / 4096, 2413.0 / 4096 * 32, 2392.0 / 4096 * 32)
    let root = pow(sample, 1 / m2)
    return pow(max(root - c1, 0) / (c2 - c3 * root), 1 / m1)
  }

  /// Source: ITU-R BT.2100, table 5.
  private static func linearHLG(_ sample: Double) -> Double {
    let (a, b, c) = (0.17883277, 0.28466892, 0.55991073)
    return sample <= 0.5 ? sample * sample / 3 : (exp((sample - c) / a) + b) / 12
  }
}
