import Foundation

@testable import Thumbnails

/// The blurred picture of a ThumbHash, as a page would draw it.
///
/// *Source*: Evan Wallace, https://evanw.github.io/thumbhash/.
struct DecodedThumbHash {
  /// Red, green and blue, 0 to 255, of the mean that the hash has.
  let mean: [Double]
  /// Whether the picture is wider than high.
  let isLandscape: Bool
  /// The frequencies of brightness along each side, which have the picture's proportions.
  let frequencies: (across: Int, down: Int)
  private let means: [Double]
  private var amplitudes: [[(u: Int, v: Int, value: Double)]] = []

  init(_ hash: [UInt8]) {
    var position = 0
    func next(_ width: Int) -> Int {
      defer { position += width }
      return (0..<width).reduce(0) { $0 | Int(hash[(position + $1) / 8] >> UInt8((position + $1) % 8) & 1) << $1 }
    }
    means = [Double(next(6)) / 63, Double(next(6)) / 31.5 - 1, Double(next(6)) / 31.5 - 1]
    let lightScale = Double(next(5)) / 31
    precondition(next(1) == 0, "no JPEG is transparent")
    let shorter = next(3)
    // A decoder shows colours a quarter stronger than they are stored.
    let scales = [lightScale, Double(next(6)) / 63 * 1.25, Double(next(6)) / 63 * 1.25]
    isLandscape = next(1) == 1
    frequencies = isLandscape ? (7, shorter) : (shorter, 7)
    for (channel, scale) in scales.enumerated() {
      let across = channel == 0 ? max(frequencies.across, 3) : 3
      let down = channel == 0 ? max(frequencies.down, 3) : 3
      var found: [(u: Int, v: Int, value: Double)] = []
      for v in 0..<down {
        for u in 0..<across where u + v > 0 && u * down < across * (down - v) {
          found.append((u, v, (Double(next(4)) / 7.5 - 1) * scale))
        }
      }
      amplitudes.append(found)
    }
    precondition((position + 7) / 8 == hash.count, "a hash has no other bytes")
    mean = Self.rgb(means)
  }

  /// Red, green and blue, 0 to 255, at a point that is given as fractions of width and height.
  func rgb(_ x: Double, _ y: Double) -> [Double] {
    var channels = means
    for channel in channels.indices {
      for wave in amplitudes[channel] {
        let across = cos(Double.pi * Double(wave.u) * x)
        let down = cos(Double.pi * Double(wave.v) * y)
        channels[channel] += 2 * wave.value * across * down
      }
    }
    return Self.rgb(channels)
  }

  private static func rgb(_ channels: [Double]) -> [Double] {
    let blue = channels[0] - 2 / 3 * channels[1]
    let red = (3 * channels[0] - blue + channels[2]) / 2
    return [red, red - channels[2], blue].map { 255 * min(max($0, 0), 1) }
  }
}
