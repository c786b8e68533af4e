/// Resizes planes of 8-bit samples with a Lanczos-3 filter, or to plain means. It sums weighted input rows to one row at
/// a time and then filters along that row, so it needs memory for only one row of the input's width.
///
/// A library for resizing was not better. zimg takes about 1 ms to build the filter graph for a new geometry, which is
/// longer than the resize itself. Extreme geometries take 0.3 s (65500 samples to one) or 1 GB of scratch memory (8192
/// × 65500). Its result depends on the processor. Here every operation is in IEEE single precision and in a fixed
/// order, so every machine makes the same bytes.
final class Resampler {
  private struct FilterKey: Hashable {
    var isMean = false
    let samples: Int
    let start: Double
    let length: Double
    let count: Int
  }

  /// The most weights kept: 256 KiB, enough for dozens of the usual filters.
  private static let weightsKept = 1 << 16
  private var filters: [FilterKey: AxisFilter] = [:]
  private var keptWeights = 0
  private var row: [Float] = []

  /// Resizes the part `region` of `plane`, measured in its samples, to the whole of `target`.
  ///
  /// - parameter proceed: called every 16 rows of the target and every 256 of the source.
  /// - throws: the errors of `proceed`.
  func resample(
    _ plane: PlaneView, region: PixelRect, into target: PlaneView, proceed: CancellationCheck = {}
  ) throws(ThumbnailError) {
    let across = filter(samples: plane.columns, start: region.x, length: region.width, count: target.columns)
    let down = filter(samples: plane.rows, start: region.y, length: region.height, count: target.rows)
    try apply(across, down, to: plane, into: target, proceed)
  }

  /// Reduces the part of `plane` from its first sample on, with this many columns and rows of samples, to the whole of
  /// `target`: every sample becomes the mean of the part that it covers.
  ///
  /// - parameter proceed: called as by `resample`.
  /// - throws: the errors of `proceed`.
  func average(
    _ plane: PlaneView, columns: Double, rows: Double, into target: PlaneView, proceed: CancellationCheck = {}
  ) throws(ThumbnailError) {
    let across = mean(samples: plane.columns, length: columns, count: target.columns)
    let down = mean(samples: plane.rows, length: rows, count: target.rows)
    try apply(across, down, to: plane, into: target, proceed)
  }

  private func apply(
    _ across: AxisFilter, _ down: AxisFilter, to plane: PlaneView, into target: PlaneView, _ proceed: CancellationCheck
  ) throws(ThumbnailError) {
    if row.count < plane.columns { row = [Float](repeating: 0, count: plane.columns) }
    try row.withUnsafeMutableBufferPointer { row throws(ThumbnailError) in
      guard let line = row.baseAddress else { return }
      for output in 0..<target.rows {
        if output % 16 == 15 { try proceed() }
        let first = Int(down.offsets[output])
        let end = Int(down.offsets[output + 1])
        for start in stride(from: first, to: end, by: 256) {
          if start > first { try proceed() }
          let rows = plane.row(Int(down.starts[output]) + start - first)
          Self.mixRows(rows, plane, down, start..<min(start + 256, end), isFirst: start == first, into: line)
        }
        Self.mixColumns(of: line, across, into: target.row(output))
      }
    }
  }

  /// The filter for one axis. Filters are cached, because photos of one camera need the same few.
  func filter(samples: Int, start: Double, length: Double, count: Int) -> AxisFilter {
    filter(FilterKey(samples: samples, start: start, length: length, count: count)) {
      AxisFilter(samples: samples, start: start, length: length, count: count)
    }
  }

  private func mean(samples: Int, length: Double, count: Int) -> AxisFilter {
    filter(FilterKey(isMean: true, samples: samples, start: 0, length: length, count: count)) {
      AxisFilter(averaging: samples, length: length, count: count)
    }
  }

  /// The filter of this key, which is made if it is not kept.
  private func filter(_ key: FilterKey, make: () -> AxisFilter) -> AxisFilter {
    if let known = filters[key] { return known }
    let made = make()
    // Huge filters are rare and are not kept.
    guard made.weights.count <= Self.weightsKept else { return made }
    if keptWeights + made.weights.count > Self.weightsKept {
      filters.removeAll(keepingCapacity: true)
      keptWeights = 0
    }
    filters[key] = made
    keptWeights += made.weights.count
    return made
  }

  /// Frees all memory.
  func trim() {
    filters = [:]
    keptWeights = 0
    row = []
  }

  /// Computes an output row at the input's width: the sum of the input rows from `rows` on, multiplied by the filter's
  /// weights `taps`, four rows in each pass. Unless `isFirst`, adds to the row's present values.
  private static func mixRows(
    _ rows: UnsafeMutablePointer<UInt8>, _ plane: PlaneView, _ filter: AxisFilter, _ taps: Range<Int>, isFirst: Bool,
    into line: UnsafeMutablePointer<Float>
  ) {
    let columns = plane.columns
    filter.weights.withUnsafeBufferPointer { weights in
      var index = taps.lowerBound
      let end = taps.upperBound
      var input = rows
      var isFirst = isFirst
      while index < end {
        let taps = min(4, end - index)
        // Rows that the last pass lacks have weight 0 and point to an existing row.
        let r0 = input
        let r1 = taps > 1 ? r0 + plane.stride : r0
        let r2 = taps > 2 ? r1 + plane.stride : r0
        let r3 = taps > 3 ? r2 + plane.stride : r0
        let w0 = weights[index]
        let w1 = taps > 1 ? weights[index + 1] : 0
        let w2 = taps > 2 ? weights[index + 2] : 0
        let w3 = taps > 3 ? weights[index + 3] : 0
        if isFirst {
          for x in 0..<columns {
            line[x] = Float(r0[x]) * w0 + Float(r1[x]) * w1 + (Float(r2[x]) * w2 + Float(r3[x]) * w3)
          }
        } else {
          for x in 0..<columns {
            line[x] += Float(r0[x]) * w0 + Float(r1[x]) * w1 + (Float(r2[x]) * w2 + Float(r3[x]) * w3)
          }
        }
        isFirst = false
        index += 4
        input += 4 * plane.stride
      }
    }
  }

  /// Computes a finished output row: the weighted sums of the line's samples, rounded and limited to 0...255.
  private static func mixColumns(
    of line: UnsafeMutablePointer<Float>, _ filter: AxisFilter, into target: UnsafeMutablePointer<UInt8>
  ) {
    for output in 0..<filter.count {
      let value = mix(line, filter, output)
      target[output] = UInt8(min(max(value + 0.5, 0), 255))
    }
  }

  /// The output sample `output` of a row. Four independent sums are faster than one whose additions depend on each
  /// other.
  @inline(__always)
  static func mix(_ line: UnsafePointer<Float>, _ filter: AxisFilter, _ output: Int) -> Float {
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
}
