import CVectors

/// Resizes planes of 8-bit samples with a Lanczos-3 filter, or to plain means. It sums weighted input rows to one row at
/// a time and then filters along that row, so it needs memory for only one row of the input's width.
///
/// Weights are whole numbers of 16 bits, and their products with samples are summed in 32 bits: a processor multiplies eight
/// pairs of such numbers and adds neighbouring products in one instruction. The row between the two filters has six bits
/// after the point. Fewer than one sample in fifty differs from the exact sum, and by no more than one.
///
/// A library for resizing was not better. zimg takes about 1 ms to build the filter graph for a new geometry, which is
/// longer than the resize itself. Extreme geometries take 0.3 s (65500 samples to one) or 1 GB of scratch memory (8192
/// × 65500). Its result depends on the processor. Here every machine makes the same bytes.
final class Resampler {
  private struct FilterKey: Hashable {
    var isMean = false
    var isDown = false
    let samples: Int
    let start: Double
    let length: Double
    let count: Int
  }

  /// The most weights kept: 256 KiB, enough for dozens of the usual filters.
  private static let weightsKept = 1 << 17
  /// The bits after the point of the row between the filters.
  private static let rowBits = 6
  /// The taps, each for 16 samples, between two calls of `proceed`.
  private static let tapsBetweenCalls = 4096

  private var filters: [FilterKey: FixedFilter] = [:]
  private var keptWeights = 0
  /// The taps since the last call of `proceed`, or since a resize was made.
  private var tapsDone = 0
  /// The row between the filters. After the last sample there is room for the weights that are 0.
  private var row: [Int16] = []

  /// Resizes the part `region` of `plane`, measured in its samples, to the whole of `target`.
  ///
  /// - parameter proceed: as for `advance`.
  /// - throws: the errors of `proceed`.
  func resample(
    _ plane: PlaneView, region: PixelRect, into target: PlaneView, proceed: CancellationCheck = {}
  ) throws(ThumbnailError) {
    var resize = resize(columns: plane.columns, rows: plane.rows, region: region, into: target)
    try advance(&resize, with: PlaneRows(view: plane, first: 0), proceed: proceed)
  }

  /// Reduces the part of `plane` from its first sample on, with this many columns and rows of samples, to the whole of
  /// `target`: every sample becomes the mean of the part that it covers.
  ///
  /// - parameter proceed: as for `advance`.
  /// - throws: the errors of `proceed`.
  func average(
    _ plane: PlaneView, columns: Double, rows: Double, into target: PlaneView, proceed: CancellationCheck = {}
  ) throws(ThumbnailError) {
    func mean(_ samples: Int, _ length: Double, _ count: Int, isDown: Bool) -> FixedFilter {
      filter(FilterKey(isMean: true, isDown: isDown, samples: samples, start: 0, length: length, count: count)) {
        AxisFilter(averaging: samples, length: length, count: count)
      }
    }
    tapsDone = 0
    var resize = PlaneResize(
      across: mean(plane.columns, columns, target.columns, isDown: false),
      down: mean(plane.rows, rows, target.rows, isDown: true), target: target)
    try advance(&resize, with: PlaneRows(view: plane, first: 0), proceed: proceed)
  }

  /// A resize of the part `region` of a plane, measured in its samples, to the whole of `target`.
  func resize(columns: Int, rows: Int, region: PixelRect, into target: PlaneView) -> PlaneResize {
    func lanczos(_ samples: Int, _ start: Double, _ length: Double, _ count: Int, isDown: Bool) -> FixedFilter {
      filter(FilterKey(isDown: isDown, samples: samples, start: start, length: length, count: count)) {
        AxisFilter(samples: samples, start: start, length: length, count: count)
      }
    }
    tapsDone = 0
    return PlaneResize(
      across: lanczos(columns, region.x, region.width, target.columns, isDown: false),
      down: lanczos(rows, region.y, region.height, target.rows, isDown: true), target: target)
  }

  /// The filter of this key, which is made if it is not kept: photos of one camera need the same few.
  private func filter(_ key: FilterKey, make: () -> AxisFilter) -> FixedFilter {
    if let known = filters[key] { return known }
    // Both sums of products stay below 2^31: 8-bit samples times weights that add up to at most 2^22, and 15-bit samples
    // times weights that add up to at most 2^15.
    let made = FixedFilter(
      make(), samples: key.samples, unit: key.isDown ? 2 : Self.lanes, mostBits: key.isDown ? 22 : 15)
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

  // MARK: One row

  /// The samples of 16 bits that are multiplied at once.
  private static let lanes = 8
  /// The columns that are mixed at once.
  private static let block = 16

  /// Makes one row of the target.
  func makeRow(
    _ output: Int, of resize: PlaneResize, from rows: PlaneRows, _ proceed: CancellationCheck
  ) throws(ThumbnailError) {
    let (across, down) = (resize.across, resize.down)
    let needed = across.needed
    let room = across.samples + across.taps
    if row.count < room { row = [Int16](repeating: 0, count: room) }
    let start = Int(down.starts[output])
    let source = Source(
      start: rows.view.row(start - rows.first), stride: rows.view.stride, count: down.end(of: output) - start)
    let shift = down.bits - Self.rowBits
    try down.weights.withUnsafeBufferPointer { weights throws(ThumbnailError) in
      try row.withUnsafeMutableBufferPointer { row throws(ThumbnailError) in
        guard let line = row.baseAddress, let weights = weights.baseAddress else { return }
        try Self.mixRows(
          source, weights + output * down.taps, down.taps, shift, needed, into: line, &tapsDone, proceed)
        // The end of `row` may hold samples of an earlier, wider row; their weights are 0.
        Self.mixColumns(of: line, across, into: resize.target.row(output))
        tapsDone += across.weights.count / Self.block
      }
    }
  }

  /// The rows that are mixed: `count` of them, at least one. Further weights are 0.
  private struct Source {
    let start: UnsafeMutablePointer<UInt8>
    let stride: Int
    let count: Int
  }

  /// Computes the columns `columns` of the row between the filters: the sum of the input rows, multiplied by the weights.
  private static func mixRows(
    _ source: Source, _ weights: UnsafePointer<Int16>, _ taps: Int, _ shift: Int, _ columns: Range<Int>,
    into line: UnsafeMutablePointer<Int16>, _ tapsDone: inout Int, _ proceed: CancellationCheck
  ) throws(ThumbnailError) {
    guard columns.count >= block else {
      for column in columns {
        line[column] = mixOne(source, column, weights, taps, shift)
        try count(taps, &tapsDone, proceed)
      }
      return
    }
    var column = columns.lowerBound
    while true {
      let mixes = mixSixteen(source, column, weights, taps, shift)
      UnsafeMutableRawPointer(line + column).storeBytes(of: mixes, as: SIMD16<Int16>.self)
      try count(taps, &tapsDone, proceed)
      // The last block overlaps the one before.
      let last = columns.upperBound - block
      guard column < last else { return }
      column = min(column + block, last)
    }
  }

  @inline(__always)
  private static func count(
    _ taps: Int, _ tapsDone: inout Int, _ proceed: CancellationCheck
  ) throws(ThumbnailError) {
    tapsDone += taps
    guard tapsDone >= tapsBetweenCalls else { return }
    tapsDone = 0
    try proceed()
  }

  private static func mixOne(
    _ source: Source, _ column: Int, _ weights: UnsafePointer<Int16>, _ taps: Int, _ shift: Int
  ) -> Int16 {
    var sum = Int32(1) << Int32(shift - 1)
    for tap in 0..<min(taps, source.count) {
      sum &+= Int32(source.start[tap * source.stride + column]) &* Int32(weights[tap])
    }
    return Int16(clamping: sum >> Int32(shift))
  }

  @inline(__always)
  private static func mixSixteen(
    _ source: Source, _ column: Int, _ weights: UnsafePointer<Int16>, _ taps: Int, _ shift: Int
  ) -> SIMD16<Int16> {
    let half = SIMD4<Int32>(repeating: 1 << Int32(shift - 1))
    var (a, b, c, d) = (half, half, half, half)
    var upper = UnsafeRawPointer(source.start + column)
    var tap = 0
    while tap < taps {
      // The second row of the last pair may be beyond the input; its weight is 0.
      let lower = tap &+ 1 < source.count ? upper + source.stride : upper
      let (first, second) = (upper.loadUnaligned(as: SIMD16<UInt8>.self), lower.loadUnaligned(as: SIMD16<UInt8>.self))
      let weight = SIMD2(weights[tap], weights[tap &+ 1])
      let two = SIMD4(lowHalf: weight, highHalf: weight)
      let four = SIMD8(lowHalf: two, highHalf: two)
      let (low, high) = (turnsLow(first, second), turnsHigh(first, second))
      a &+= sumsOfPairs(wideLow(low), four)
      b &+= sumsOfPairs(wideHigh(low), four)
      c &+= sumsOfPairs(wideLow(high), four)
      d &+= sumsOfPairs(wideHigh(high), four)
      tap &+= 2
      upper = tap < source.count ? lower + source.stride : upper
    }
    let by = Int32(shift)
    return SIMD16(lowHalf: narrowed(a &>> by, b &>> by), highHalf: narrowed(c &>> by, d &>> by))
  }

  /// Computes a finished output row: the weighted sums of the line's samples, rounded and limited to 0...255.
  private static func mixColumns(
    of line: UnsafePointer<Int16>, _ filter: FixedFilter, into target: UnsafeMutablePointer<UInt8>
  ) {
    // The compiler unrolls a loop over a number of taps that it knows.
    switch filter.taps {
    case lanes: mixColumns(of: line, filter, lanes, into: target)
    case 2 * lanes: mixColumns(of: line, filter, 2 * lanes, into: target)
    case 3 * lanes: mixColumns(of: line, filter, 3 * lanes, into: target)
    default: mixColumns(of: line, filter, filter.taps, into: target)
    }
  }

  @inline(__always)
  private static func mixColumns(
    of line: UnsafePointer<Int16>, _ filter: FixedFilter, _ taps: Int, into target: UnsafeMutablePointer<UInt8>
  ) {
    let shift = Int32(filter.bits + rowBits)
    let half = SIMD4<Int32>(repeating: 1 << (shift - 1))
    filter.starts.withUnsafeBufferPointer { starts in
      filter.weights.withUnsafeBufferPointer { weights in
        guard let starts = starts.baseAddress, let weights = weights.baseAddress else { return }
        @inline(__always) func sums(_ output: Int) -> SIMD4<Int32> {
          dot(line + Int(starts[output]), weights + output &* taps, taps)
        }
        var output = 0
        while output + 4 <= filter.count {
          let first = neighbours(sums(output), sums(output &+ 1))
          let second = neighbours(sums(output &+ 2), sums(output &+ 3))
          let values = narrowed((neighbours(first, second) &+ half) &>> shift, .zero)
          let samples = bytes(values, values).lowHalf.lowHalf
          UnsafeMutableRawPointer(target + output).storeBytes(of: samples, as: SIMD4<UInt8>.self)
          output &+= 4
        }
        while output < filter.count {
          let value = (sums(output).wrappedSum() &+ half[0]) >> shift
          target[output] = UInt8(clamping: value)
          output &+= 1
        }
      }
    }
  }

  /// Four sums that add up to the weighted sum.
  @inline(__always)
  private static func dot(
    _ samples: UnsafePointer<Int16>, _ weights: UnsafePointer<Int16>, _ taps: Int
  ) -> SIMD4<Int32> {
    var sums = SIMD4<Int32>.zero
    var tap = 0
    while tap < taps {
      sums &+= sumsOfPairs(
        UnsafeRawPointer(samples + tap).loadUnaligned(as: SIMD8<Int16>.self),
        UnsafeRawPointer(weights + tap).loadUnaligned(as: SIMD8<Int16>.self))
      tap &+= lanes
    }
    return sums
  }
}
