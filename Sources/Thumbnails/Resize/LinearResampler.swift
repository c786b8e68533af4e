import Foundation

/// Resizes in linear light: converts samples to sRGB, applies the inverse of sRGB's curve, averages, and applies the
/// curve.
///
/// Each row of the source is converted once, filtered along the row, and added to the few output rows that it
/// contributes to, so that no whole picture is held in floating point.
struct LinearResampler {
  /// The conversion for the source's profile.
  let conversion: ProfileConversion

  /// Resizes one grey plane, or three colour planes that cover the same picture, and perhaps alpha, to targets of one size.
  ///
  /// - parameters:
  ///   - picture: grey, YCbCr with chroma of any resolution, or RGB. Of a transparent picture, samples are multiplied by their
  ///     alpha, and all planes have one size.
  ///   - region: the part shown, in samples of the first plane.
  ///   - targets: one grey plane, or red, green and blue of sRGB; then alpha, by which they are not multiplied.
  ///   - proceed: called every 16 rows of the source, and of the targets.
  /// - throws: the errors of `proceed`.
  func resample(
    _ picture: DecodedPicture, region: PixelRect, into targets: [PlaneView], proceed: CancellationCheck
  ) throws(ThumbnailError) {
    let first = picture.planes[0].view
    let (width, height) = (targets[0].columns, targets[0].rows)
    let across = AxisFilter(samples: first.columns, start: region.x, length: region.width, count: width)
    let down = AxisFilter(samples: first.rows, start: region.y, length: region.height, count: height)
    var rows = picture.planes.map { RowReader(plane: $0, luma: picture.planes[0]) }
    var opacity = picture.hasAlpha ? rows.removeLast() : nil
    let colors = rows.count
    var converter = RowConverter(conversion, columns: first.columns, channels: rows.count)
    var light = [Float](repeating: 0, count: first.columns)
    var filtered = [[Float]](repeating: [Float](repeating: 0, count: width), count: targets.count)
    var sums = RowSums(width: width * targets.count, rows: height)

    var firstActive = 0
    let starts = down.starts.map(Int.init)
    let ends = (0..<height).map { starts[$0] + Int(down.offsets[$0 + 1] - down.offsets[$0]) }
    for y in (starts.min() ?? 0)..<(ends.max() ?? 0) {
      if y % 16 == 0 { try proceed() }
      while firstActive < height, ends[firstActive] <= y { firstActive += 1 }
      for index in rows.indices { rows[index].read(y) }
      opacity?.read(y)
      if let opacity { Self.divide(&rows, by: opacity) }
      if case .ycc(let matrix) = picture.model { Self.makeRGB(&rows, YCbCr(matrix)) }
      converter.convert(&rows)
      for channel in targets.indices {
        if channel < colors {
          for x in 0..<first.columns { light[x] = SRGBCurve.linear[Int(rows[channel].samples[x])] }
        }
        if let opacity {
          for x in 0..<first.columns {
            let weight = Float(opacity.samples[x]) / 255
            light[x] = channel < colors ? light[x] * weight : weight
          }
        }
        for x in 0..<width { filtered[channel][x] = Self.mix(light, across, x) }
      }
      for output in firstActive..<height {
        // Filters drop negligible weights at their ends, so the starts of output rows are not strictly in order.
        if starts[output] - (ends[output] - starts[output]) > y { break }
        guard starts[output] <= y, y < ends[output] else { continue }
        if (output - firstActive) % 16 == 15 { try proceed() }
        let weight = down.weights[Int(down.offsets[output]) + y - starts[output]]
        for channel in targets.indices { sums.add(filtered[channel], weight, to: output, at: channel * width) }
        guard y + 1 == ends[output] else { continue }
        let finished = sums.line(of: output)
        for channel in targets.indices {
          let line = targets[channel].row(output)
          for x in 0..<width {
            let light = finished[channel * width + x]
            guard picture.hasAlpha else {
              line[x] = SRGBCurve.encode(light)
              continue
            }
            let weight = min(max(finished[colors * width + x], 0), 1)
            let isVisible = weight >= 1 / 512
            line[x] =
              channel == colors ? UInt8(weight * 255 + 0.5) : isVisible ? SRGBCurve.encode(light / weight) : 0
          }
        }
        sums.finish(output)
      }
    }
  }

  /// The output sample `output` of a row. Four independent sums are faster than one whose additions depend on each
  /// other.
  @inline(__always)
  private static func mix(_ line: UnsafePointer<Float>, _ filter: AxisFilter, _ output: Int) -> Float {
    let offset = Int(filter.offsets[output])
    let taps = Int(filter.offsets[output + 1]) - offset
    return filter.weights.withUnsafeBufferPointer { weights in
      let input = line + Int(filter.starts[output])
      let weight = weights.baseAddress! + offset
      var sums = SIMD4<Float>.zero
      var tap = 0
      while tap + 4 <= taps {
        let values = UnsafeRawPointer(input + tap).loadUnaligned(as: SIMD4<Float>.self)
        let factors = UnsafeRawPointer(weight + tap).loadUnaligned(as: SIMD4<Float>.self)
        sums += values * factors
        tap += 4
      }
      var sum = (sums[0] + sums[1]) + (sums[2] + sums[3])
      while tap < taps {
        sum += input[tap] * weight[tap]
        tap += 1
      }
      return sum
    }
  }

  /// Turns samples that are multiplied by their alpha into those of the colours themselves.
  private static func divide(_ rows: inout [RowReader], by opacity: RowReader) {
    for x in opacity.samples.indices where opacity.samples[x] < 255 {
      for index in rows.indices {
        rows[index].samples[x] = Transparency.divided(rows[index].samples[x], by: opacity.samples[x])
      }
    }
  }

  private static func makeRGB(_ rows: inout [RowReader], _ conversion: YCbCr) {
    for x in rows[0].samples.indices {
      let (r, g, b) = conversion.rgb(rows[0].samples[x], rows[1].samples[x], rows[2].samples[x])
      (rows[0].samples[x], rows[1].samples[x], rows[2].samples[x]) = (r, g, b)
    }
  }
}

/// The sums of output rows. Only rows that overlap are held at the same time, and the memory of finished ones is
/// reused.
private struct RowSums {
  private let width: Int
  private var lines: [[Float]] = []
  private var free: [Int] = []
  private var slots: [Int]

  init(width: Int, rows: Int) {
    self.width = width
    slots = [Int](repeating: -1, count: rows)
  }

  /// Adds values times a weight to an output row, beginning at a column.
  mutating func add(_ values: [Float], _ weight: Float, to row: Int, at column: Int) {
    if slots[row] < 0 { begin(row) }
    let slot = slots[row]
    lines[slot].withUnsafeMutableBufferPointer { line in
      for x in values.indices { line[column + x] += values[x] * weight }
    }
  }

  func line(of row: Int) -> [Float] { lines[slots[row]] }

  mutating func finish(_ row: Int) { free.append(slots[row]) }

  private mutating func begin(_ row: Int) {
    if let slot = free.popLast() {
      slots[row] = slot
      for x in 0..<width { lines[slot][x] = 0 }
    } else {
      slots[row] = lines.count
      lines.append([Float](repeating: 0, count: width))
    }
  }
}

/// Converts rows from the source's colours to sRGB.
private struct RowConverter {
  private let conversion: ProfileConversion
  private var pixels: [UInt8] = []
  private var converted: [UInt8] = []

  init(_ conversion: ProfileConversion, columns: Int, channels: Int) {
    self.conversion = conversion
    guard case .pixels = conversion else { return }
    pixels = [UInt8](repeating: 0, count: columns * channels)
    converted = pixels
  }

  mutating func convert(_ rows: inout [RowReader]) {
    switch conversion {
    case .unusable, .identity: return
    case .grey(let table):
      for x in rows[0].samples.indices { rows[0].samples[x] = table[Int(rows[0].samples[x])] }
    case .pixels(let transform):
      let columns = rows[0].samples.count
      for channel in rows.indices {
        for x in 0..<columns { pixels[x * rows.count + channel] = rows[channel].samples[x] }
      }
      transform.convert(pixels, into: &converted, count: columns)
      for channel in rows.indices {
        for x in 0..<columns { rows[channel].samples[x] = converted[x * rows.count + channel] }
      }
    }
  }
}

/// Reads rows of a plane at luma's resolution, by linear interpolation.
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

  /// The two samples around a position, and the distance from the first one in 256ths. Samples are centre sited.
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

/// sRGB's transfer curve between sample values and light.
///
/// Source: IEC 61966-2-1, 5.2.
private enum SRGBCurve {
  /// The light, 0 to 1, of each 8-bit value.
  static let linear: [Float] = (0...255).map { value in
    let encoded = Double(value) / 255
    return Float(encoded <= 0.04045 ? encoded / 12.92 : pow((encoded + 0.055) / 1.055, 2.4))
  }

  /// The 8-bit value for a light, which the filter may have moved below 0 or above 1. The curve is a table with linear
  /// interpolation; its error is below 0.01 of a step.
  static func encode(_ light: Float) -> UInt8 {
    let position = min(max(light, 0), 1) * steps
    let index = Int(position)
    let fraction = position - Float(index)
    return UInt8(encoded[index] + (encoded[index + 1] - encoded[index]) * fraction + 0.5)
  }

  private static let steps: Float = 4096
  private static let encoded: [Float] = (0...Int(steps) + 1).map { index in
    let light = min(Double(index) / Double(steps), 1)
    return Float(255 * (light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055))
  }
}
