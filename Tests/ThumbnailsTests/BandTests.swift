import Foundation
import TestSupport
import Testing

@testable import Thumbnails

/// Pictures that are resized while they are decoded. At the source's own size the block decoder makes the samples that
/// libjpeg makes, so that the thumbnails are the same bytes.
@Suite(.timeLimit(.minutes(5))) struct BandTests {
  private static func thumbnail(
    of source: [UInt8], _ size: String, _ decoding: Decoding, change: (inout ThumbnailOptions) -> Void = { _ in }
  ) throws -> [UInt8] {
    var options = ThumbnailOptions(sizes: [try SizeSpec(parsing: size)], quality: 100)
    change(&options)
    var made: [UInt8] = []
    try ThumbnailMaker().makeThumbnails(of: ByteReader(bytes: source), options: options, decoding: decoding) {
      made = Array($0.bytes)
    }
    return made
  }

  private static func method(_ source: [UInt8], _ size: String) throws -> DecodePlan.Method {
    let info = try ThumbnailMaker.readInfo(of: ByteReader(bytes: source))
    let size = try SizeSpec(parsing: size)
    let options = ThumbnailOptions(sizes: [size])
    return DecodePlan(info, for: [size.placement(for: info.orientedPixels)], options, .sparing).method
  }

  @Test(arguments: 1...4, 1...4) func everySamplingGivesLibjpegsSamples(_ h: Int, _ v: Int) throws {
    guard h * v <= 8 else { return }
    for (width, height) in [(8, 8), (67, 41)] {
      for interval in [0, 1, 5] {
        var source = TestJPEG.ycc(width, height, h: h, v: v) { component, x, y in
          let mixed: Int = Int(x) * 29 + Int(y) * 83 + component * 7
          return Double(mixed % 256)
        }
        source.restartInterval = interval
        let bytes = source.bytes()
        guard case .bands = try Self.method(bytes, "100") else {
          Issue.record("\(h)x\(v) is not decoded in bands")
          continue
        }
        #expect(
          try Self.thumbnail(of: bytes, "100", .sparing) == Self.thumbnail(of: bytes, "100", .whole()),
          "\(h)x\(v) \(width)x\(height), \(interval)")
        source.isInterleaved = false
        // libjpeg decodes a picture with a scan for each component.
        #expect(try Self.method(source.bytes(), "100") == .everything)
      }
    }
  }

  @Test(arguments: [10, 50, 88, 97, 100], [false, true]) func photosGiveLibjpegsSamples(
    _ quality: Int, _ isGrey: Bool
  ) throws {
    for (seed, hasFullChroma) in [(1, false), (2, true)] {
      var photo = SyntheticPhoto(seed: seed, width: 1203, height: 805)
      (photo.quality, photo.isGrey, photo.hasFullChroma) = (quality, isGrey, hasFullChroma)
      for orientation in [1, 6, 8] {
        photo.orientation = orientation
        let bytes = photo.jpeg()
        #expect(
          try Self.thumbnail(of: bytes, "2000", .sparing) == Self.thumbnail(of: bytes, "2000", .whole()),
          "quality \(quality), seed \(seed), orientation \(orientation)")
      }
    }
  }

  @Test func aDamagedFileFailsOrIsLeftToLibjpeg() throws {
    let whole = SyntheticPhoto(seed: 4, width: 700, height: 500).jpeg()
    var random = SplitMix(seed: 9)
    var verdicts: Set<String> = []
    for round in 0..<200 {
      var bytes = whole
      for _ in 0..<3 {
        let place = 700 + Int(random.next() % UInt64(bytes.count - 700))
        bytes[place] = UInt8(truncatingIfNeeded: random.next())
      }
      if round % 5 == 0 { bytes.removeLast(Int(random.next() % 9000) + 1) }
      // As a thumbnail of the same file at 1/8, which is made by the same decoder.
      func verdict(_ size: String) -> String {
        do {
          _ = try Self.thumbnail(of: bytes, size, .sparing)
          return "made"
        } catch let error as ThumbnailError {
          return "\(error)"
        } catch {
          return "another error"
        }
      }
      let (large, small) = (verdict("650"), verdict("40"))
      #expect(large == small, "round \(round)")
      verdicts.insert(large)
    }
    #expect(verdicts.count > 2, "\(verdicts)")
  }

  /// The inverse transform in exact arithmetic: makes `side` × `side` samples from as many of the lowest coefficients.
  private static func exact(_ coefficients: [Double], side: Int) -> [Double] {
    func basis(_ u: Int, _ x: Int) -> Double {
      let scale = u == 0 ? 1 : 2.0.squareRoot()
      return scale * cos(Double((2 * x + 1) * u) * .pi / Double(2 * side))
    }
    return (0..<side * side).map { index in
      let (y, x) = (index / side, index % side)
      var sum = 0.0
      for v in 0..<side {
        for u in 0..<side { sum += coefficients[v * 8 + u] * basis(u, x) * basis(v, y) }
      }
      return min(max(sum / 8 + 128, 0), 255)
    }
  }

  @Test(arguments: InverseTransform.sides) func transformsAreExactToAStep(_ side: Int) {
    var random = SplitMix(seed: UInt64(side))
    let zigzag = InverseTransform.places
    #expect(Set(zigzag).count == 64 && zigzag[1] == 1 && zigzag[2] == 8 && zigzag[63] == 63 && zigzag[35] == 56)
    for round in 0..<2000 {
      let steps = (0..<64).map { _ in Int(random.next() % 30) + 1 }
      let transform = InverseTransform(side: side, steps: steps)
      let count = [1, 2, 7, 10, 11, 30, 64][round % 7]
      var coefficients = [Int16](repeating: 0, count: 64)
      var values = [Double](repeating: 0, count: 64)
      for index in 0..<count {
        let limit = index == 0 ? 900 : 300 / (index + 1)
        let value = (Int(random.next() % UInt64(2 * limit + 1)) - limit) / steps[index]
        coefficients[Int(zigzag[index])] = Int16(value)
        values[Int(zigzag[index])] = Double(value * steps[index])
      }
      let stride = 11
      var target = [UInt8](repeating: 7, count: stride * (side + 1))
      transform.withSteps { steps in
        transform.makeSamples(of: coefficients, steps, count: count, into: &target, stride: stride)
      }
      let expected = Self.exact(values, side: side)
      for index in 0..<side * side {
        let made = Double(target[index / side * stride + index % side])
        #expect(abs(made - expected[index]) <= 1, "\(side), \(count) coefficients, sample \(index)")
      }
      // Nothing beside the block is written.
      for index in target.indices where index % stride >= side || index / stride >= side { #expect(target[index] == 7) }
    }
  }

  /// Resizing in bands gives the samples that resizing the whole plane gives.
  @Test func bandsGiveTheSamplesOfWholePlanes() throws {
    var random = SplitMix(seed: 3)
    func number(_ range: ClosedRange<Int>) -> Int { range.lowerBound + Int(random.next() % UInt64(range.count)) }
    for round in 0..<300 {
      let (columns, rows, bandRows) = (number(1...90), number(1...200), [1, 3, 8, 16, 24][number(0...4)])
      let padded = (rows + bandRows - 1) / bandRows * bandRows
      let stride = columns + number(0...15)
      let source = PlaneBuffer()
      let plane = try source.plane(columns: columns, rows: rows, stride: stride, paddedRows: padded)
      for index in 0..<stride * padded { plane.base[index] = UInt8(truncatingIfNeeded: random.next()) }
      let resampler = Resampler()
      var (targets, expected): ([ResizeTargets], [PlaneView]) = ([], [])
      var buffers: [PlaneBuffer] = []
      for _ in 0..<number(1...3) {
        let (width, height) = (number(1...120), number(1...150))
        let (top, left) = (Double(number(-2...rows - 1)), Double(number(-2...columns - 1)))
        let part = PixelRect(
          x: left, y: top + 0.25, width: Double(columns) - left, height: max(Double(rows) - top - 0.25, 0.5))
        let (one, other) = (PlaneBuffer(), PlaneBuffer())
        buffers += [one, other]
        targets.append(ResizeTargets(planes: [try one.plane(columns: width, rows: height)], parts: [part]))
        let view = try other.plane(columns: width, rows: height)
        try resampler.resample(plane, region: part, into: view)
        expected.append(view)
      }
      let shape = PlaneShape(
        columns: columns, rows: rows, columnsExact: Double(columns), rowsExact: Double(rows))
      let layout = BandedResize.Layout(plane: shape, stride: stride, bandRows: bandRows, paddedRows: padded)
      let resize = try BandedResize(
        [layout], to: targets, parents: targets.map { _ in nil }, with: resampler, in: [PlaneBuffer()])
      for band in 0..<padded / bandRows {
        let place = resize.nextBand()[0]
        #expect(place.rows == bandRows && place.stride == stride)
        place.base.update(from: plane.row(band * bandRows), count: bandRows * stride)
        try resize.advance {}
      }
      for (made, expected) in zip(targets.map { $0.planes[0] }, expected) {
        let (first, second) = (Self.samples(made), Self.samples(expected))
        #expect(first == second, "round \(round)")
      }
      withExtendedLifetime((source, buffers)) {}
    }
  }

  @Test func muchSmallerThumbnailsAreMadeFromLargerOnes() throws {
    func parents(_ sizes: String..., of pixels: PixelSize = PixelSize(width: 6000, height: 4000)) throws -> [Int?] {
      let specs = try sizes.map { try SizeSpec(parsing: $0) }
      return ThumbnailOptions(sizes: specs).allPlacements(for: pixels).parents()
    }
    #expect(try parents("320", "640", "1024", "1600", "2048") == [3, 3, 4, nil, nil])
    #expect(try parents("1440", "250") == [nil, 0])
    #expect(try parents("1024", "600") == [nil, nil])
    // A part of the picture can be made of the whole, and not the other way round.
    #expect(try parents("1000x1000^", "200") == [nil, nil])
    #expect(try parents("2000", "200x200^") == [nil, 0])
    #expect(try parents("1000x100!", "90") == [nil, nil])
    // An icon has all of its chroma.
    #expect(try parents("400", "48") == [nil, nil])
    #expect(try parents("1000<", "400", of: PixelSize(width: 500, height: 400)) == [nil, nil])

    // No error of the larger one's filter shows, for chroma of any size, turned or not.
    for (seed, orientation) in [(1, 1), (2, 6)] {
      var photo = SyntheticPhoto(seed: seed, width: 1003, height: 765)
      photo.orientation = orientation
      let bytes = photo.jpeg()
      for size in ["211", "150x150^", "40"] {
        let alone = try Picture(Self.thumbnail(of: bytes, size, .sparing))
        var options = ThumbnailOptions(
          sizes: [try SizeSpec(parsing: size), try SizeSpec(parsing: "450")], quality: 100)
        options.subsampling = .auto
        var made: [[UInt8]] = []
        try ThumbnailMaker().makeThumbnails(of: ByteReader(bytes: bytes), options: options) { thumbnail in
          made.append(Array(thumbnail.bytes))
        }
        let picture = try Picture(made[0])
        #expect(picture.pixels == alone.pixels)
        for (one, other) in zip(picture.planes, alone.planes) {
          let differences = zip(one.samples, other.samples).map { abs(Int($0) - Int($1)) }
          #expect(Double(differences.reduce(0, +)) / Double(differences.count) < 0.8, "\(size), seed \(seed)")
          #expect(differences.max() ?? 255 <= 12, "\(size), seed \(seed)")
        }
      }
    }
  }

  private static func samples(_ view: PlaneView) -> [UInt8] {
    (0..<view.rows).flatMap { row in (0..<view.columns).map { view.row(row)[$0] } }
  }

  /// The rows that are held are those of the filter and two bands, whatever the picture's height.
  @Test func fewRowsAreHeld() {
    let shape = PlaneShape(columns: 10, rows: 60_000, columnsExact: 10, rowsExact: 60_000)
    let layout = BandedResize.Layout(plane: shape, stride: 16, bandRows: 16, paddedRows: 60_000)
    #expect(layout.heldRows(taps: 20) == 52)
    #expect(layout.heldRows(taps: 100_000) == 60_000)
  }

  /// Codes of a sample have to suit rows that are not in it.
  @Test(arguments: [false, true]) func rowsOutsideTheSampleMayHaveOtherSymbols(_ isGrey: Bool) throws {
    let (width, height) = (64, 1024)
    var random = SplitMix(seed: 1)
    var noise: [UInt8] = []
    for _ in 0..<width * height { noise.append(UInt8(truncatingIfNeeded: random.next())) }
    // Of 128 rows of MCUs eight are in the sample, the first of them with the index 8; those are flat.
    let buffers = [PlaneBuffer(), PlaneBuffer(), PlaneBuffer()]
    let planes = try buffers.prefix(isGrey ? 1 : 3).map { try $0.plane(columns: width, rows: height) }
    for plane in planes {
      for y in 0..<height {
        for x in 0..<width { plane.row(y)[x] = y / 8 % 16 == 8 ? 90 : noise[y * width + x] }
      }
    }
    var options = ThumbnailOptions(sizes: [try SizeSpec(parsing: "1024")], quality: 100)
    options.subsampling = .s444
    let pixels = PixelSize(width: width, height: height)
    let encoder = try JPEGEncoder()
    let bytes = Array(
      try encoder.encode(
        RenderedPicture(ycc: planes, pixels, halvesChroma: false), options: options, metadata: ThumbnailMetadata(),
        monitor: nil))
    let made = try Picture(bytes)
    #expect(made.pixels == pixels)
    // With the codes of the sample it would be more than twice as large as is reserved for noise.
    #expect(bytes.count < JPEGEncoder.expectedSize(samples: planes.count * width * height, 100) * 8 / 5)
    for (plane, decoded) in zip(planes, made.planes) {
      let differences = zip(Self.samples(plane), decoded.samples).map { abs(Int($0) - Int($1)) }
      #expect(differences.max() ?? 255 <= 3)
    }
    withExtendedLifetime(buffers) {}
  }
}
