import TestSupport
import Testing

@testable import Thumbnails

@Suite(.timeLimit(.minutes(5))) struct ResamplerTests {
  private static func resample(
    _ columns: Int, _ rows: Int, _ region: PixelRect? = nil, to width: Int, _ height: Int, _ value: (Int, Int) -> Int
  ) throws -> [Int] {
    let (from, into) = (PlaneBuffer(), PlaneBuffer())
    let source = try from.plane(columns: columns, rows: rows)
    for y in 0..<rows {
      for x in 0..<columns { source.row(y)[x] = UInt8(value(x, y)) }
    }
    let target = try into.plane(columns: width, rows: height)
    let whole = PixelRect(x: 0, y: 0, width: Double(columns), height: Double(rows))
    try Resampler().resample(source, region: region ?? whole, into: target)
    return withExtendedLifetime((from, into)) {
      (0..<height).flatMap { y in (0..<width).map { Int(target.row(y)[$0]) } }
    }
  }

  @Test func resizingToTheSameSizeCopies() throws {
    let made = try Self.resample(19, 7, to: 19, 7) { x, y in (x * 37 + y * 11) % 256 }
    #expect(made == (0..<7).flatMap { y in (0..<19).map { ($0 * 37 + y * 11) % 256 } })
  }

  @Test(arguments: [(1, 1), (2, 3), (640, 480), (7, 250)], [(1, 1), (3, 2), (64, 48)])
  func aFlatPlaneStaysFlat(_ from: (Int, Int), _ to: (Int, Int)) throws {
    let made = try Self.resample(from.0, from.1, to: to.0, to.1) { _, _ in 201 }
    #expect(made == [Int](repeating: 201, count: to.0 * to.1))
  }

  @Test func aRegionBeyondTheEdgeRepeatsTheEdge() throws {
    let region = PixelRect(x: -3, y: 0, width: 16, height: 1)
    let made = try Self.resample(10, 1, region, to: 16, 1) { x, _ in 20 + x * 10 }
    #expect(made == [20, 20, 20, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 110, 110, 110])
  }

  @Test func aRegionThatBeginsInsideASampleShiftsByThatFraction() throws {
    let region = PixelRect(x: 10.25, y: 0, width: 8, height: 1)
    let made = try Self.resample(40, 1, region, to: 8, 1) { x, _ in x * 4 }
    #expect(made == (0..<8).map { 41 + $0 * 4 })
  }

  @Test func weightsAddUpToOne() {
    for (samples, count) in [(1, 9), (17, 5), (640, 256), (65_500, 1), (65_500, 256)] {
      let filter = AxisFilter(samples: samples, start: 0, length: Double(samples), count: count)
      for output in 0..<count {
        let weights = filter.weights[Int(filter.offsets[output])..<Int(filter.offsets[output + 1])]
        #expect(abs(weights.reduce(0, +) - 1) < 1e-3)
        #expect(Int(filter.starts[output]) + weights.count <= samples && filter.starts[output] >= 0)
      }
    }
  }

  /// In fixed point the weights add up exactly, so that a flat area stays flat.
  @Test(arguments: [(1, 9), (17, 5), (640, 256), (5120, 1440), (65_500, 1), (65_500, 256)])
  func weightsInFixedPointAddUp(_ samples: Int, _ count: Int) {
    let exact = AxisFilter(samples: samples, start: 0, length: Double(samples), count: count)
    for (unit, most) in [(2, 22), (8, 15)] {
      let filter = FixedFilter(exact, samples: samples, unit: unit, mostBits: most)
      #expect(filter.taps % unit == 0 && filter.weights.count == count * filter.taps && filter.bits >= 14)
      #expect(filter.taps <= FixedFilter.mostTaps(samples: Double(samples) / Double(count)) + unit)
      for output in 0..<count {
        let weights = filter.weights[output * filter.taps..<(output + 1) * filter.taps].map(Int.init)
        #expect(weights.reduce(0, +) == 1 << filter.bits)
        let start = Int(filter.starts[output])
        #expect(start >= 0 && start < samples && (output == 0 || filter.starts[output - 1] <= filter.starts[output]))
        #expect(weights.dropFirst(max(samples - start, 0)).allSatisfy { $0 == 0 })
        for index in Int(exact.offsets[output])..<Int(exact.offsets[output + 1]) {
          let place = Int(exact.starts[output]) + index - Int(exact.offsets[output]) - start
          let difference = Double(weights[place]) / Double(1 << filter.bits) - Double(exact.weights[index])
          #expect(abs(difference) < 2.1 / Double(1 << filter.bits))
        }
      }
    }
  }

  /// Samples differ from sums in floating point by at most one, and fewer than one in fifty differs.
  @Test func samplesAreThoseOfExactSums() throws {
    var random = SplitMix(seed: 5)
    func number(_ range: ClosedRange<Int>) -> Int { range.lowerBound + Int(random.next() % UInt64(range.count)) }
    var (differ, all) = (0, 0)
    for _ in 0..<60 {
      let (columns, rows, width, height) = (number(1...120), number(1...90), number(1...100), number(1...80))
      let values = (0..<columns * rows).map { _ in number(0...255) }
      let made = try Self.resample(columns, rows, to: width, height) { values[$1 * columns + $0] }
      let across = AxisFilter(samples: columns, start: 0, length: Double(columns), count: width)
      let down = AxisFilter(samples: rows, start: 0, length: Double(rows), count: height)
      func sum(_ filter: AxisFilter, _ output: Int, _ value: (Int) -> Double) -> Double {
        (Int(filter.offsets[output])..<Int(filter.offsets[output + 1])).reduce(0.0) { sum, index in
          sum + Double(filter.weights[index]) * value(Int(filter.starts[output]) + index - Int(filter.offsets[output]))
        }
      }
      for y in 0..<height {
        let line = (0..<columns).map { x in sum(down, y) { Double(values[$0 * columns + x]) } }
        for x in 0..<width {
          let exact = min(max(sum(across, x) { line[$0] }, 0), 255)
          let sample = Double(made[y * width + x])
          #expect(abs(sample - exact) < 0.7)
          differ += sample == exact.rounded() ? 0 : 1
          all += 1
        }
      }
    }
    #expect(differ * 50 < all, "\(differ) of \(all)")
  }

  @Test(arguments: [(65_500, 1), (1, 65_500), (65_500, 9), (9, 65_500)])
  func extremelyLongPicturesAreResized(_ width: Int, _ height: Int) throws {
    // A complete file of one colour.
    let source = TestJPEG.grey(width, height) { _, _ in 130 }.bytes()
    for (size, longest) in [("256", 256), ("1", 1), ("65500", 65_500)] {
      let made = try thumbnail(of: source, size)
      #expect(max(made.pixels.width, made.pixels.height) == longest)
      #expect(abs(made.value(0, 0.5, 0.5) - 130) <= 1)
    }
  }

  /// A large picture must not delay a cancellation while it is resized or turned.
  @Test func proceedIsCalledEveryFewRows() throws {
    let source = PlaneBuffer()
    let target = PlaneBuffer()
    let high = try source.plane(columns: 160, rows: 40_000)
    high.base.update(repeating: 7, count: 160 * 40_000)
    var asked = 0
    try Resampler().resample(
      high, region: PixelRect(x: 0, y: 0, width: 160, height: 40_000), into: try target.plane(columns: 1, rows: 1)
    ) { () throws(ThumbnailError) in asked += 1 }
    #expect(asked >= 160 / 16)
    // A small picture that is enlarged has many rows of few products each.
    let large = try target.plane(columns: 4000, rows: 3000)
    asked = 0
    let small = PlaneView(base: high.base, columns: 50, rows: 40, stride: 50)
    try Resampler().resample(small, region: PixelRect(x: 0, y: 0, width: 50, height: 40), into: large) {
      () throws(ThumbnailError) in asked += 1
    }
    #expect(asked >= 3000 / 16)
    let (from, into) = (try source.plane(columns: 4, rows: 640), try target.plane(columns: 640, rows: 4))
    for orientation in Orientation.allCases {
      asked = 0
      let turned = orientation.isTransposed ? into : PlaneView(base: into.base, columns: 4, rows: 640, stride: 4)
      try orientation.turn(from, into: turned) { () throws(ThumbnailError) in asked += 1 }
      #expect(asked >= turned.rows / 16 - 1)
    }
    withExtendedLifetime((source, target)) {}
  }
}
