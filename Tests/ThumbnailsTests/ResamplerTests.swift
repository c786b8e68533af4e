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
    let high = try source.plane(columns: 1, rows: 40_000)
    for y in 0..<40_000 { high.row(y)[0] = 7 }
    var asked = 0
    try Resampler().resample(
      high, region: PixelRect(x: 0, y: 0, width: 1, height: 40_000), into: try target.plane(columns: 1, rows: 1)
    ) { () throws(ThumbnailError) in asked += 1 }
    #expect(asked >= 40_000 / 256)
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
