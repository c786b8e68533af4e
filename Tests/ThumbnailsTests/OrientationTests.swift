import TestSupport
import Testing

@testable import Thumbnails

@Suite struct OrientationTests {
  /// Four corners of different colours: upper left, upper right, lower left, lower right.
  private static let corners = [[80, 90, 200], [200, 60, 120], [140, 200, 70], [40, 140, 150]]

  /// The stored corner that is displayed at each corner of the upright picture.
  private static let seen: [Int: [Int]] = [
    1: [0, 1, 2, 3], 2: [1, 0, 3, 2], 3: [3, 2, 1, 0], 4: [2, 3, 0, 1],
    5: [0, 2, 1, 3], 6: [2, 0, 3, 1], 7: [3, 1, 2, 0], 8: [1, 3, 0, 2],
  ]

  private static func source(_ orientation: Int, _ width: Int, _ height: Int) -> TestJPEG {
    var source = TestJPEG.ycc(width, height, h: 2, v: 2) { component, x, y in
      let corner = (x * 2 < Double(width) ? 0 : 1) + (y * 2 < Double(height) ? 0 : 2)
      return Double(corners[corner][component])
    }
    source.segments.append(TestExif(orientation: orientation).segment)
    return source
  }

  @Test(arguments: 1...8, ChromaSubsampling.allCases)
  func everyCornerIsInItsPlace(_ orientation: Int, _ subsampling: ChromaSubsampling) throws {
    let bytes = Self.source(orientation, 96, 64).bytes()
    for (size, width, height) in [("96", 96, 64), ("25", 25, 17), ("31x31!", 31, 31)] {
      let made = try thumbnail(of: bytes, size) { $0.subsampling = subsampling }
      let isTurned = orientation >= 5 && size != "31x31!"
      #expect(made.pixels == PixelSize(width: isTurned ? height : width, height: isTurned ? width : height))
      let points = [(0.1, 0.1), (0.9, 0.1), (0.1, 0.9), (0.9, 0.9)]
      for (point, corner) in zip(points, Self.seen[orientation] ?? []) {
        #expect(isClose(made.color(point.0, point.1), Self.corners[corner], within: 6), "\(size) at \(point)")
      }
    }
  }

  @Test(arguments: 1...8) func cropsApplyToTheDisplayedPicture(_ orientation: Int) throws {
    // The picture is displayed as 60 × 120, however it is stored. The square in its middle has all four corners'
    // colours.
    let stored = orientation >= 5 ? (120, 60) : (60, 120)
    let made = try thumbnail(of: Self.source(orientation, stored.0, stored.1).bytes(), "20x20^")
    #expect(made.pixels == PixelSize(width: 20, height: 20))
    for (point, corner) in zip([(0.1, 0.1), (0.9, 0.1), (0.1, 0.9), (0.9, 0.9)], Self.seen[orientation] ?? []) {
      #expect(isClose(made.color(point.0, point.1), Self.corners[corner], within: 6))
    }
  }

  /// Pictures that need a colour conversion, at the thumbnail's full size, show the same corners and crops.
  @Test(arguments: ["RGB", "tagged", "linear", "linear RGB", "CMYK"], 1...8)
  func convertedPicturesAreTurnedAndCroppedAlike(_ kind: String, _ orientation: Int) throws {
    // These levels are greys, which every profile and colour model has; CMYK makes them of black ink alone.
    let levels = [60.0, 110, 160, 210]
    let stored = orientation >= 5 ? (120, 60) : (60, 120)
    let isRGB = kind.hasSuffix("RGB")
    let ids: [UInt8] = isRGB ? [82, 71, 66] : kind == "CMYK" ? [1, 2, 3, 4] : [1, 2, 3]
    var segments = kind == "CMYK" || isRGB ? [] : [TestJPEG.jfif]
    segments.append(TestExif(orientation: orientation).segment)
    if kind == "tagged" { segments += TestProfile.segments(TestProfile.wide()) }
    let source = TestJPEG(
      width: stored.0, height: stored.1, components: ids.map { TestJPEG.Component(id: $0) }, segments: segments
    ) { component, x, y in
      let corner = (x * 2 < Double(stored.0) ? 0 : 1) + (y * 2 < Double(stored.1) ? 0 : 2)
      // There is a bright band at both ends, which the square in the middle does not show.
      let along = stored.0 > 60 ? x : y
      let level = min(along, 120 - along) < 16 ? 250 : levels[corner]
      // A sample of 255 is no ink.
      if kind == "CMYK" { return component == 3 ? level : 255 }
      return isRGB || component == 0 ? level : 128
    }.bytes()
    for (size, isCrop) in [("20x20^", true), ("40", false)] {
      let made = try thumbnail(of: source, size) { $0.linear = kind.hasPrefix("linear") }
      #expect(made.pixels == (isCrop ? PixelSize(width: 20, height: 20) : PixelSize(width: 20, height: 40)))
      let (near, far) = isCrop ? (0.1, 0.9) : (0.3, 0.7)
      let points = [(near, near), (far, near), (near, far), (far, far)]
      let values = points.map { made.value(0, $0.0, $0.1) }
      let order = (Self.seen[orientation] ?? []).map { levels[$0] }
      // The profile changes the levels, and keeps their order.
      for (value, level) in zip(values, order) {
        #expect(abs(Double(value) - level) <= (kind == "tagged" ? 30 : 6), "\(size): \(values) for \(order)")
      }
    }
  }

  /// At an odd size, half of the last chroma sample is beyond the picture's edge. That must be the right or the lower
  /// edge as displayed. A ramp shows a shift of even half a sample.
  @Test(arguments: 1...8) func chromaStaysAlignedAtOddSizes(_ orientation: Int) throws {
    var source = TestJPEG.ycc(60, 60) { component, x, y in component == 0 ? 128 : 28 + (component == 1 ? x : y) * 10 / 3
    }
    source.segments.append(TestExif(orientation: orientation).segment)
    let half = try thumbnail(of: source.bytes(), "15") { $0.subsampling = .s420 }
    let full = try thumbnail(of: source.bytes(), "15") { $0.subsampling = .s444 }
    for index in 1..<7 {
      for component in 1...2 {
        // Chroma sample n covers the full-size samples 2n and 2n + 1, so sample 3 covers 6 and 7.
        func mean(_ row: Int, _ column: Int) -> Int {
          let samples = full.planes[component].samples
          let sum = [(0, 0), (0, 1), (1, 0), (1, 1)].reduce(0) { $0 + Int(samples[(row + $1.0) * 15 + column + $1.1]) }
          return sum / 4
        }
        let across = Int(half.planes[component].samples[3 * 8 + index])
        let down = Int(half.planes[component].samples[index * 8 + 3])
        #expect(abs(across - mean(6, 2 * index)) <= 3, "component \(component) column \(index)")
        #expect(abs(down - mean(2 * index, 6)) <= 3, "component \(component) row \(index)")
      }
    }
  }

  @Test(arguments: [0, 9, 255, 65_535]) func anOrientationOutOfRangeIsIgnored(_ value: Int) throws {
    var source = TestJPEG.grey(30, 20) { _, _ in 99 }
    source.segments.append(TestExif(orientation: value).segment)
    let info = try ThumbnailMaker.readInfo(of: ByteReader(bytes: source.bytes()))
    #expect(info.orientation == .upright)
  }

  @Test func bothByteOrdersAreRead() {
    for isBigEndian in [true, false] {
      let exif = TestExif(orientation: 6, isBigEndian: isBigEndian)
      #expect(exif.block.withUnsafeBufferPointer(ExifOrientation.read) == .rotated90)
    }
  }

  /// SHORT is what the standard says; some programs write LONG or SLONG.
  @Test(arguments: [3, 4, 9]) func everyTypeOfNumberIsRead(_ type: Int) {
    for isBigEndian in [true, false] {
      let exif = TestExif(orientation: 6, orientationType: type, isBigEndian: isBigEndian)
      #expect(exif.block.withUnsafeBufferPointer(ExifOrientation.read) == .rotated90)
    }
  }

  @Test func brokenBlocksNeverCrash() {
    let block = TestExif(orientation: 6).block
    for length in 0..<block.count { _ = Array(block.prefix(length)).withUnsafeBufferPointer(ExifOrientation.read) }
    var random = SplitMix(seed: 5)
    for _ in 0..<5_000 {
      var broken = block
      for _ in 0..<3 { broken[Int(random.next() % UInt64(broken.count))] = UInt8(truncatingIfNeeded: random.next()) }
      _ = broken.withUnsafeBufferPointer(ExifOrientation.read)
    }
  }

  /// After a colour conversion, a sample of halved chroma is the mean of four samples, not one of them.
  @Test func halvedChromaIsTheMean() throws {
    let source = TestJPEG(width: 40, height: 40, components: [82, 71, 66].map { TestJPEG.Component(id: $0) }) {
      component, x, y in [40 + x * 5, 120, 230 - y * 5][component]
    }.bytes()
    let half = try thumbnail(of: source, "40") { $0.subsampling = .s420 }
    let full = try thumbnail(of: source, "40") { $0.subsampling = .s444 }
    for (x, y) in [(4, 5), (10, 10), (13, 6)] {
      for component in 1...2 {
        let samples = full.planes[component].samples
        let block = [0, 1, 40, 41].map { Int(samples[2 * y * 40 + 2 * x + $0]) }
        let mean = Double(block.reduce(0, +)) / 4
        #expect(abs(Double(half.planes[component].samples[y * 20 + x]) - mean) <= 1)
      }
    }
  }
}
