import Foundation

/// Computes the ThumbHash of a picture: its lowest frequencies in a few bytes, of which a decoder makes a blurred picture.
///
/// The picture is three channels: L, the mean of red, green and blue (0 to 1); P, yellow against blue (-1 to 1); Q, red
/// against green (-1 to 1). The hash has of each channel its mean (DC), the largest amplitude of its other frequencies (the
/// scale), and each of these amplitudes as a fraction of the scale (AC), in four bits. L has seven frequencies along the
/// longer side, and along the other as many as the proportions leave, but at least three; P and Q have three by three.
/// Of those, only the ones below the diagonal are kept. JPEGs are opaque, so the hash never has the format's fourth
/// channel.
///
/// The bits, lowest first: 6 for L's mean, 6 each for those of P and Q, 5 for L's scale, 1 for transparency, which is 0;
/// 3 for the frequencies along the shorter side, 6 each for the scales of P and Q, 1 for a picture wider than high; then
/// 4 for each amplitude of L, P and Q.
///
/// The author's program and this one may differ where the exact value is between two steps or undefined, because there
/// rounding errors decide: here an amplitude of 0 always is step 8, and all amplitudes of a flat channel are step 0.
///
/// *Source*: Evan Wallace, https://evanw.github.io/thumbhash/.
enum ThumbHash {
  /// The frequencies of L along the longer side, with the mean.
  static let frequencies = 7
  /// Those of P and Q along each side, and the fewest of L.
  static let fewestFrequencies = 3

  /// The bytes of the hash, 17 to 24.
  static func bytes(of picture: SmallPicture) -> [UInt8] {
    let (width, height) = (picture.size.width, picture.size.height)
    // The count along each side, rounded half up.
    func count(_ side: Int) -> Int { max((2 * frequencies * side + max(width, height)) / (2 * max(width, height)), 1) }
    let (across, down) = (count(width), count(height))
    let isLandscape = width > height
    let channels = channels(
      of: picture, across: max(across, fewestFrequencies),
      down: max(down, fewestFrequencies))
    let (l, p, q) = (channels[0], channels[1], channels[2])

    var bits = Bits()
    bits.put(step(l.mean, of: 63), 6)
    bits.put(step((p.mean + 1) / 2, of: 63), 6)
    bits.put(step((q.mean + 1) / 2, of: 63), 6)
    bits.put(step(l.scale, of: 31), 5)
    bits.put(0, 1)
    bits.put(isLandscape ? down : across, 3)
    bits.put(step(p.scale, of: 63), 6)
    bits.put(step(q.scale, of: 63), 6)
    bits.put(isLandscape ? 1 : 0, 1)
    for channel in channels {
      for amplitude in channel.amplitudes {
        bits.put(channel.scale > 0 ? step((amplitude / channel.scale + 1) / 2, of: 15) : 0, 4)
      }
    }
    return bits.bytes
  }

  /// The nearest of the steps 0 to `most` to a value from 0 to 1. A value between two steps is rounded up, even if
  /// rounding errors made it a little smaller.
  private static func step(_ value: Double, of most: Int) -> Int {
    min(max(Int((value * Double(most) + 0.5 + 1e-6).rounded(.down)), 0), most)
  }

  /// One channel in the terms of the hash.
  private struct Channel {
    var mean = 0.0
    /// The largest amplitude; 0 for a flat channel.
    var scale = 0.0
    /// The amplitudes kept, by their frequency down and then across, without the mean.
    var amplitudes: [Double] = []

    /// Larger than the rounding errors, and smaller than an amplitude of a picture that is not flat.
    private static let negligible = 1e-9

    /// - parameters:
    ///   - columns: for each frequency down, every column's amplitude.
    ///   - cosines: for each frequency across, its value in every column.
    init(columns: [Double], cosines: [Double], width: Int, across: Int, down: Int, divisor: Double) {
      for v in 0..<down {
        var u = 0
        while u * down < across * (down - v) {
          var sum = 0.0
          for x in 0..<width { sum += columns[v * width + x] * cosines[u * width + x] }
          if u + v == 0 { mean = sum / divisor } else { amplitudes.append(sum / divisor) }
          u += 1
        }
      }
      scale = amplitudes.reduce(0) { max($0, abs($1)) }
      if scale < Self.negligible { scale = 0 }
    }
  }

  /// L, P and Q. The sums over the columns are made first, row by row, because there a processor can add several columns
  /// at a time.
  private static func channels(of picture: SmallPicture, across: Int, down: Int) -> [Channel] {
    let (width, height) = (picture.size.width, picture.size.height)
    let cosinesAcross = cosines(across, width)
    let cosinesDown = cosines(down, height)
    let counts = [down, fewestFrequencies, fewestFrequencies]
    var columns = counts.map { [Double](repeating: 0, count: $0 * width) }
    var rows = counts.map { _ in [Double](repeating: 0, count: width) }
    for y in 0..<height {
      // Whole numbers: the divisors are left to the end, so that a grey or flat picture has no rounding errors here.
      for x in 0..<width {
        let index = 3 * (y * width + x)
        let red = Int32(picture.samples[index])
        let green = Int32(picture.samples[index + 1])
        let blue = Int32(picture.samples[index + 2])
        rows[0][x] = Double(red + green + blue)
        rows[1][x] = Double(red + green - 2 * blue)
        rows[2][x] = Double(red - green)
      }
      for channel in counts.indices {
        for v in 0..<counts[channel] {
          add(rows[channel], times: cosinesDown[v * height + y], to: &columns[channel], at: v * width)
        }
      }
    }
    return zip([3.0, 2, 1], columns.indices).map { factor, channel in
      Channel(
        columns: columns[channel], cosines: cosinesAcross, width: width,
        across: channel == 0 ? across : fewestFrequencies,
        down: counts[channel], divisor: factor * 255 * Double(width * height))
    }
  }

  @inline(__always)
  private static func add(_ row: [Double], times factor: Double, to sums: inout [Double], at start: Int) {
    sums.withUnsafeMutableBufferPointer { sums in
      row.withUnsafeBufferPointer { row in
        for x in row.indices { sums[start + x] += row[x] * factor }
      }
    }
  }

  /// The values of the lowest frequencies at the centre of each of `length` pixels, frequency by frequency.
  private static func cosines(_ count: Int, _ length: Int) -> [Double] {
    (0..<count).flatMap { frequency in
      (0..<length).map { cos(Double.pi / Double(length) * Double(frequency) * (Double($0) + 0.5)) }
    }
  }

  /// Bytes that are filled bit by bit, the lowest first.
  private struct Bits {
    private(set) var bytes: [UInt8] = []
    private var used = 8

    mutating func put(_ value: Int, _ width: Int) {
      for bit in 0..<width {
        if used == 8 {
          bytes.append(0)
          used = 0
        }
        bytes[bytes.count - 1] |= UInt8(value >> bit & 1) << used
        used += 1
      }
    }
  }
}
