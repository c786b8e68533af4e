import Foundation
import TestSupport
import Testing

@testable import Thumbnails

@Suite(.timeLimit(.minutes(5))) struct SamplingTests {
  /// A picture that varies smoothly along both axes, in a different way in each component.
  static func slope(_ width: Int, _ height: Int) -> (Int, Double, Double) -> Double {
    { component, x, y in
      let (u, v) = (x / Double(width), y / Double(height))
      return [40 + 170 * u, 60 + 120 * v, 190 - 60 * u - 60 * v, 30 + 200 * v][component]
    }
  }

  private static func expectSlope(_ made: Picture, _ note: String, tolerance: Int = 6) {
    let value = slope(1, 1)
    for (x, y) in [(0.25, 0.25), (0.75, 0.25), (0.25, 0.75), (0.75, 0.75)] {
      for component in made.planes.indices {
        let plane = made.planes[component]
        // The centre of the sample at a point differs a little from the point, and the last sample of halved chroma may
        // extend beyond the picture.
        let factor = plane.columns < made.pixels.width ? 2.0 : 1.0
        let sampleX = (Double(Int(x * Double(plane.columns))) + 0.5) * factor / Double(made.pixels.width)
        let sampleY = (Double(Int(y * Double(plane.rows))) + 0.5) * factor / Double(made.pixels.height)
        let expected = Int(value(component, sampleX, sampleY).rounded())
        #expect(abs(made.value(component, x, y) - expected) <= tolerance, "\(note) component \(component) at \(x) \(y)")
      }
    }
  }

  @Test(arguments: 1...4, 1...4) func everySamplingFactorIsDecodedCorrectly(_ h: Int, _ v: Int) throws {
    let maker = ThumbnailMaker()
    for chromaH in 1...4 {
      for chromaV in 1...4 {
        var source = TestJPEG.ycc(
          50, 38, h: h, v: v, chromaH: chromaH, chromaV: chromaV, value: Self.slope(50, 38))
        // An MCU of an interleaved scan has at most ten blocks.
        source.isInterleaved = h * v + 2 * chromaH * chromaV <= 10
        let bytes = source.bytes()
        for size in ["50", "12"] {
          let made = try thumbnail(of: bytes, size, maker: maker)
          Self.expectSlope(made, "\(h)x\(v), \(chromaH)x\(chromaV), size \(size)")
        }
      }
    }
  }

  @Test(arguments: [1, 2, 4, 8]) func everyDecodeScaleShowsTheSameGeometry(_ scale: Int) throws {
    let (width, height) = (12 * 2 * scale + 5, 10 * 2 * scale + 3)
    for (h, v) in [(1, 1), (2, 1), (2, 2), (1, 2), (4, 1), (3, 1)] {
      let source = TestJPEG.ycc(width, height, h: h, v: v, value: Self.slope(width, height)).bytes()
      let size = try SizeSpec(parsing: "12x10!")
      let placement = size.placement(for: PixelSize(width: width, height: height))
      let info = try ThumbnailMaker.readInfo(of: ByteReader(bytes: source))
      let plan = DecodePlan(info, for: [placement], ThumbnailOptions(sizes: [size]), .whole())
      #expect(plan.denominator == scale)
      Self.expectSlope(try thumbnail(of: source, size.description), "scale \(scale) \(h)x\(v)", tolerance: 3)
    }
  }

  @Test(arguments: 1...17) func oddSizesKeepTheirColour(_ width: Int) throws {
    let maker = ThumbnailMaker()
    let color = [90, 170, 60]
    for height in 1...17 {
      let source = TestJPEG.ycc(width, height, h: 2, v: 2) { component, _, _ in Double(color[component]) }.bytes()
      for size in ["17", "5", "1", "20<"] {
        let made = try thumbnail(of: source, size, maker: maker)
        for (x, y) in [(0.0, 0.0), (0.999, 0.0), (0.0, 0.999), (0.999, 0.999)] {
          #expect(isClose(made.color(x, y), color, within: 1), "\(width)x\(height) at \(size)")
        }
      }
    }
  }

  @Test func restartIntervalsAndSeparateScansChangeNothing() throws {
    var source = TestJPEG.ycc(70, 50, h: 2, v: 2, value: Self.slope(70, 50))
    let options = ThumbnailOptions(sizes: [try SizeSpec(parsing: "20")])
    let plain = try thumbnails(of: source.bytes(), options)
    source.restartInterval = 3
    #expect(try thumbnails(of: source.bytes(), options) == plain)
    source.isInterleaved = false
    #expect(try thumbnails(of: source.bytes(), options) == plain)
  }

  @Test func iconsHaveFullChromaByDefault() throws {
    let source = TestJPEG.ycc(200, 120, value: Self.slope(200, 120)).bytes()
    let sizes = try ["48", "49", "32", "x48", "100"].map { try SizeSpec(parsing: $0) }
    let pictures = try thumbnails(of: source, ThumbnailOptions(sizes: sizes, quality: 95)).map { try Picture($0) }
    #expect(pictures.map { $0.planes[1].columns } == [48, 25, 32, 40, 50])
    Self.expectSlope(try thumbnail(of: source, "48"), "48")
  }

  @Test func progressiveFilesAreReadAndWritten() throws {
    let source = TestJPEG.ycc(90, 70, value: Self.slope(90, 70)).bytes()
    for subsampling in ChromaSubsampling.allCases {
      var options = ThumbnailOptions(sizes: [try SizeSpec(parsing: "90")], quality: 95, progressive: true)
      options.subsampling = subsampling
      let progressive = try #require(try thumbnails(of: source, options).first)
      let picture = try Picture(progressive)
      #expect(picture.isProgressive)
      #expect(picture.planes[1].columns == (subsampling == .s444 ? 90 : 45))
      let info = try ThumbnailMaker.readInfo(of: ByteReader(bytes: progressive))
      #expect(info.isProgressive && info.pixels == PixelSize(width: 90, height: 70))
      Self.expectSlope(try thumbnail(of: progressive, "30"), "progressive \(subsampling)")
    }
  }

  /// At scale 1/8 the AC scans are skipped: if chroma has luma's resolution, no sample depends on them.
  @Test func skippedACScansChangeNoByte() throws {
    let source = TestJPEG.ycc(200, 160) { component, x, y in
      128 + 90 * (component == 0 ? (Int(x / 3) + Int(y / 5)) % 2 == 0 ? 1 : -1 : component == 1 ? x / 200 : -y / 160)
    }.bytes()
    var options = ThumbnailOptions(sizes: [try SizeSpec(parsing: "200")], quality: 90, progressive: true)
    options.subsampling = .s444
    let progressive = try thumbnails(of: source, options)[0]
    options = ThumbnailOptions(sizes: [try SizeSpec(parsing: "12")], failOn: .error)
    let skipped = try thumbnails(of: progressive, options)
    options.failOn = .warning
    #expect(try thumbnails(of: progressive, options) == skipped)
    // An invalid code in the last scan goes unnoticed, which proves that the scan is skipped.
    let scan = try #require(
      progressive.indices.dropLast().last { progressive[$0...].starts(with: JPEGMarker.sos.bytes) })
    var broken = progressive
    for index in (scan + 40)..<(scan + 60) { broken[index] = index % 2 == scan % 2 ? 0xFF : 0 }
    options.failOn = .error
    #expect(try thumbnails(of: broken, options) == skipped)
  }

  /// These coefficients take over 32 MiB, and are in huge pages if the system has them. The picture is the same.
  @Test func aPictureOfManyCoefficientsIsDecoded() throws {
    let side = 4200
    let buffer = PlaneBuffer()
    let plane = try buffer.plane(columns: side, rows: side)
    for y in 0..<side { memset(plane.row(y), Int32(y / 20), side) }
    let options = ThumbnailOptions(sizes: [try SizeSpec(parsing: "256")], progressive: true)
    let encoder = try JPEGEncoder()
    let source = Array(
      try encoder.encode(
        RenderedPicture(ycc: [plane], PixelSize(width: side, height: side), halvesChroma: false), options: options,
        metadata: ThumbnailMetadata(), monitor: nil))
    for failOn in [FailOn.error, .warning] {
      let made = try thumbnail(of: source, "64") { $0.failOn = failOn }
      for y in [0.1, 0.5, 0.9] {
        let row = (Double(Int(y * 64)) + 0.5) / 64 * Double(side)
        #expect(abs(made.value(0, 0.5, y) - Int(row / 20)) <= 2)
      }
    }
  }

  /// If chroma has half of luma's samples, it is too coarse at luma's scale for a 4:4:4 thumbnail.
  @Test func onlyVisiblePartsAreDecoded() throws {
    for isProgressive in [false, true] {
      var photo = SyntheticPhoto(seed: 4, width: 640, height: 480)
      photo.isProgressive = isProgressive
      let info = try ThumbnailMaker.readInfo(of: ByteReader(bytes: photo.jpeg()))
      func whole(_ method: DecodePlan.Method, side: Int) -> DecodePlan.Method {
        isProgressive ? method : .bands(sides: [side, side, side])
      }
      let half = whole(.withoutFineScans, side: 3)
      for (size, subsampling, denominator, method) in [
        ("40", ChromaSubsampling.s420, 8, DecodePlan.Method.blocks(side: 1)), ("41", .s420, 4, .blocks(side: 2)),
        ("88", .s420, 4, .blocks(side: 2)), ("89", .s420, 2, half),
        ("160", .s420, 2, whole(.withoutFineScans, side: 4)), ("161", .s420, 1, whole(.everything, side: 4)),
        ("200", .s420, 1, whole(.everything, side: 5)), ("250", .s420, 1, whole(.everything, side: 6)),
        ("300", .s420, 1, whole(.everything, side: 8)), ("640", .s420, 1, whole(.everything, side: 8)),
        ("20", .s444, 8, .blocks(side: 1)), ("40", .s444, 4, .blocks(side: 2)), ("60", .s444, 4, half),
      ] {
        var options = ThumbnailOptions(sizes: [try SizeSpec(parsing: size)], subsampling: subsampling)
        let placements = options.allPlacements(for: info.pixels)
        let note = Comment("\(size) \(subsampling), progressive: \(isProgressive)")
        let plan = DecodePlan(info, for: placements, options, .sparing)
        #expect(plan.method == method && plan.denominator == denominator, note)
        #expect(DecodePlan(info, for: placements, options, .whole()).method == .everything, note)
        options.failOn = .warning
        #expect(DecodePlan(info, for: placements, options, .sparing).method == .everything, note)
      }
    }
  }

  /// The last bit of AC coefficients is often half of a progressive file. A thumbnail looks the same without it.
  @Test func skippedFineScansChangeSamplesLittle() throws {
    var photo = SyntheticPhoto(seed: 5, width: 700, height: 500)
    (photo.isProgressive, photo.hasFullChroma) = (true, true)
    let source = photo.jpeg()
    let made = try thumbnail(of: source, "150")
    let whole = try thumbnail(of: source, "150") { $0.failOn = .warning }
    for (plane, other) in zip(made.planes, whole.planes) {
      let differences = zip(plane.samples, other.samples).map { abs(Int($0) - Int($1)) }
      #expect(differences.reduce(0, +) > 0 && differences.max() ?? 0 <= 12)
      #expect(Double(differences.reduce(0, +)) / Double(differences.count) < 1)
    }
  }

  /// A grey file of 16 × 16 pixels with arithmetic coding. Its values are 12x + 3y, at quality 60.
  static let arithmetic: [UInt8] = [
    0xFF, 0xD8, 0xFF, 0xE0, 0x00, 0x10, 0x4A, 0x46, 0x49, 0x46, 0x00, 0x01, 0x01, 0x00, 0x00, 0x01, 0x00, 0x01, 0x00,
    0x00, 0xFF, 0xDB, 0x00, 0x43, 0x00, 0x0D, 0x09, 0x0A, 0x0B, 0x0A, 0x08, 0x0D, 0x0B, 0x0A, 0x0B, 0x0E, 0x0E, 0x0D,
    0x0F, 0x13, 0x20, 0x15, 0x13, 0x12, 0x12, 0x13, 0x27, 0x1C, 0x1E, 0x17, 0x20, 0x2E, 0x29, 0x31, 0x30, 0x2E, 0x29,
    0x2D, 0x2C, 0x33, 0x3A, 0x4A, 0x3E, 0x33, 0x36, 0x46, 0x37, 0x2C, 0x2D, 0x40, 0x57, 0x41, 0x46, 0x4C, 0x4E, 0x52,
    0x53, 0x52, 0x32, 0x3E, 0x5A, 0x61, 0x5A, 0x50, 0x60, 0x4A, 0x51, 0x52, 0x4F, 0xFF, 0xC9, 0x00, 0x0B, 0x08, 0x00,
    0x10, 0x00, 0x10, 0x01, 0x01, 0x11, 0x00, 0xFF, 0xCC, 0x00, 0x06, 0x00, 0x10, 0x10, 0x05, 0xFF, 0xDA, 0x00, 0x08,
    0x01, 0x01, 0x00, 0x00, 0x3F, 0x00, 0xFF, 0x00, 0x72, 0xC9, 0x26, 0xEB, 0x66, 0xF4, 0xB2, 0x9C, 0x0A, 0x0A, 0x9D,
    0x41, 0xF9, 0x3E, 0xF4, 0x5D, 0xCC, 0xFF, 0xD9,
  ]

  @Test func arithmeticCodingIsDecoded() throws {
    let made = try thumbnail(of: Self.arithmetic, "2")
    #expect(made.planes.count == 1)
    #expect(made.value(0, 0, 0) < made.value(0, 0.9, 0) && made.value(0, 0, 0) < made.value(0, 0, 0.9))
    #expect(abs(made.value(0, 0, 0) - 53) <= 6)
  }

  @Test func twoComponentsAreRejected() throws {
    let components = [TestJPEG.Component(id: 1), TestJPEG.Component(id: 2)]
    let source = TestJPEG(width: 8, height: 8, components: components) { _, _, _ in 100 }
    #expect(throws: ThumbnailError.unsupported("it has 2 components")) { try thumbnail(of: source.bytes(), "8") }
  }

  @Test(arguments: [(0xC3, "SOF type 0xc3"), (0xC5, "SOF type 0xc5")]) func losslessAndHierarchicalAreRejected(
    _ marker: Int, _ words: String
  ) throws {
    var bytes = TestJPEG.grey(8, 8) { _, _ in 100 }.bytes()
    let frame = try #require(bytes.indices.dropLast().first { bytes[$0...].starts(with: JPEGMarker.sof0.bytes) })
    bytes[frame + 1] = UInt8(marker)
    let error = try #require(throws: ThumbnailError.self) { try thumbnail(of: bytes, "8") }
    #expect(error.description == "unsupported JPEG: Unsupported JPEG process: \(words)")
  }

  @Test func twelveBitsAreRejected() throws {
    var bytes = TestJPEG.grey(8, 8) { _, _ in 100 }.bytes()
    let frame = try #require(bytes.indices.dropLast().first { bytes[$0...].starts(with: JPEGMarker.sof0.bytes) })
    bytes[frame + 4] = 12
    let error = try #require(throws: ThumbnailError.self) { try thumbnail(of: bytes, "8") }
    #expect(error == .unsupported("Unsupported JPEG data precision 12"))
  }
}
