import Foundation

/// Resizes in linear light: sample values are undone from sRGB's curve, averaged, and put back.
///
/// Each row of the source is converted once, filtered along the row, and added to the few output rows it takes part in:
/// no floating point picture of the source's size ever exists.
struct LinearResampler {
  let resampler: Resampler

  /// Resizes one grey plane, or three colour planes that cover the same picture, to targets of one size.
  ///
  /// - parameters:
  ///   - picture: grey, YCbCr with chroma of any resolution, or RGB.
  ///   - region: the part shown, in samples of the first plane.
  ///   - targets: one grey plane, or red, green and blue.
  ///   - proceed: asked every 16 rows; false ends the work early.
  func resample(_ picture: DecodedPicture, region: PixelRect, into targets: [PlaneView], proceed: () -> Bool) {
    let source = picture.planes[0].view
    let (width, height) = (targets[0].columns, targets[0].rows)
    let across = resampler.filter(samples: source.columns, start: region.x, length: region.width, count: width)
    let down = resampler.filter(samples: source.rows, start: region.y, length: region.height, count: height)
    var rows = picture.planes.map { RowReader(plane: $0, luma: picture.planes[0]) }
    var light = [Float](repeating: 0, count: source.columns)
    var filtered = [Float](repeating: 0, count: width)
    var sums = [[Float]](repeating: [Float](repeating: 0, count: width * height), count: targets.count)

    var firstActive = 0
    let starts = down.starts.map(Int.init)
    let ends = (0..<height).map { starts[$0] + Int(down.offsets[$0 + 1] - down.offsets[$0]) }
    for y in (starts.min() ?? 0)..<(ends.max() ?? 0) {
      if y % 16 == 0, !proceed() { return }
      while firstActive < height, ends[firstActive] <= y { firstActive += 1 }
      for index in rows.indices { rows[index].read(y) }
      if picture.model == .ycc { Self.makeRGB(&rows) }
      for channel in targets.indices {
        for x in 0..<source.columns { light[x] = SRGBCurve.linear[Int(rows[channel].samples[x])] }
        for x in 0..<width { filtered[x] = Resampler.mix(light, across, x) }
        for output in firstActive..<height {
          // Weights too small to matter are cut off filters, so starts are not strictly in order.
          if starts[output] - (ends[output] - starts[output]) > y { break }
          guard starts[output] <= y, y < ends[output] else { continue }
          let weight = down.weights[Int(down.offsets[output]) + y - starts[output]]
          let base = output * width
          for x in 0..<width { sums[channel][base + x] += filtered[x] * weight }
        }
      }
    }
    for channel in targets.indices {
      for y in 0..<height {
        let line = targets[channel].row(y)
        for x in 0..<width { line[x] = SRGBCurve.encode(sums[channel][y * width + x]) }
      }
    }
  }

  private static func makeRGB(_ rows: inout [RowReader]) {
    for x in rows[0].samples.indices {
      let (r, g, b) = YCbCr.rgb(rows[0].samples[x], rows[1].samples[x], rows[2].samples[x])
      (rows[0].samples[x], rows[1].samples[x], rows[2].samples[x]) = (r, g, b)
    }
  }
}

/// Rows of a plane brought to luma's resolution, linear between samples.
private struct RowReader {
  private(set) var plane: DecodedPlane
  var samples: [UInt8]
  private let rowRatio: Double
  private var columns: [(index: Int, next: Int, fraction: Int)] = []
  private let isFullSize: Bool

  init(plane: DecodedPlane, luma: DecodedPlane) {
    self.plane = plane
    samples = [UInt8](repeating: 0, count: luma.view.columns)
    rowRatio = plane.rowsExact / luma.rowsExact
    let columnRatio = plane.columnsExact / luma.columnsExact
    isFullSize = rowRatio == 1 && columnRatio == 1
    if !isFullSize {
      columns = samples.indices.map { Self.position($0, ratio: columnRatio, count: plane.view.columns) }
    }
  }

  /// Which two samples a position lies between, and how far behind the first, in 256ths. Samples are centre sited.
  private static func position(_ index: Int, ratio: Double, count: Int) -> (index: Int, next: Int, fraction: Int) {
    let position = min(max((Double(index) + 0.5) * ratio - 0.5, 0), Double(count - 1))
    let low = Int(position)
    return (low, min(low + 1, count - 1), Int((position - Double(low)) * 256))
  }

  mutating func read(_ row: Int) {
    if isFullSize {
      let line = plane.view.row(row)
      for x in samples.indices { samples[x] = line[x] }
      return
    }
    let vertical = Self.position(row, ratio: rowRatio, count: plane.view.rows)
    let upper = plane.view.row(vertical.index)
    let lower = plane.view.row(vertical.next)
    for x in samples.indices {
      let (low, high, fraction) = columns[x]
      let top = Int(upper[low]) * (256 - fraction) + Int(upper[high]) * fraction
      let bottom = Int(lower[low]) * (256 - fraction) + Int(lower[high]) * fraction
      samples[x] = UInt8((top * (256 - vertical.fraction) + bottom * vertical.fraction + 32_768) >> 16)
    }
  }
}

/// sRGB's curve between sample values and light.
///
/// Source: IEC 61966-2-1, 5.2.
private enum SRGBCurve {
  /// Light, 0 to 1, of each 8-bit value.
  static let linear: [Float] = (0...255).map { value in
    let encoded = Double(value) / 255
    return Float(encoded <= 0.04045 ? encoded / 12.92 : pow((encoded + 0.055) / 1.055, 2.4))
  }

  /// The 8-bit value of a light, which the filter may have carried past 0 or 1.
  static func encode(_ light: Float) -> UInt8 {
    let held = Double(min(max(light, 0), 1))
    let encoded = held <= 0.0031308 ? held * 12.92 : 1.055 * pow(held, 1 / 2.4) - 0.055
    return UInt8((encoded * 255).rounded())
  }
}
