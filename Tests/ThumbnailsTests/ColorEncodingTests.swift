import Foundation
import Testing

@testable import Thumbnails

/// Colours of pictures that have numbers or an exponent instead of a profile.
@Suite(.timeLimit(.minutes(1)))
struct ColorEncodingTests {
  private func convert(_ color: [UInt8], _ encoding: ColorEncoding) throws -> [UInt8] {
    switch ProfileReader().conversion(for: encoding, kind: .rgb) {
    case .identity: return color
    case .pixels(let transform):
      var converted: [UInt8] = [0, 0, 0]
      transform.convert(color, into: &converted, count: 1)
      return converted
    default:
      Issue.record("no conversion of colours")
      return []
    }
  }

  /// Whether no component differs by more than the tolerance.
  private func isNear(_ color: [UInt8], _ expected: [Int], _ tolerance: Int = 2) -> Bool {
    zip(color, expected).allSatisfy { abs(Int($0) - $1) <= tolerance }
  }

  @Test(arguments: [(1, 13), (2, 2), (1, 1), (0, 0), (255, 255)])
  func theNumbersOfSRGBAndUnknownOnesChangeNothing(primaries: Int, transfer: Int) {
    guard
      case .identity = ProfileReader().conversion(
        for: .numbered(primaries: primaries, transfer: transfer), kind: .rgb)
    else {
      Issue.record("\(primaries), \(transfer) are converted")
      return
    }
  }

  /// The values are those of CSS Color 4's conversion from display-p3 to srgb.
  @Test func displayP3BecomesSRGB() throws {
    let p3 = ColorEncoding.numbered(primaries: 12, transfer: 13)
    #expect(isNear(try convert([200, 100, 50], p3), [214, 94, 31]))
    #expect(isNear(try convert([255, 255, 255], p3), [255, 255, 255]))
    #expect(isNear(try convert([128, 128, 128], p3), [128, 128, 128]))
    #expect(isNear(try convert([0, 255, 0], p3), [0, 255, 0]))
  }

  @Test func anExponentNear22IsSRGBAndAnotherIsNot() throws {
    guard case .identity = ProfileReader().conversion(for: .power(1 / 0.45455, chromaticities: nil), kind: .rgb) else {
      Issue.record("an exponent of 2.2 is converted")
      return
    }
    // Linear light of 0.5 is 188 in sRGB.
    #expect(isNear(try convert([128, 128, 128], .power(1, chromaticities: nil)), [188, 188, 188]))
    // Exponents without a meaning are limited, and do no harm.
    _ = try convert([128, 128, 128], .power(.infinity, chromaticities: nil))
    _ = try convert([128, 128, 128], .power(1, chromaticities: [0, 0, 0, 0, 0, 0, 0, 0]))
  }

  @Test func greyIsConvertedByATable() {
    guard case .grey(let table) = ProfileReader().conversion(for: .power(1, chromaticities: nil), kind: .grey) else {
      Issue.record("linear grey is not converted")
      return
    }
    #expect(abs(Int(table[128]) - 188) <= 2 && table[0] == 0 && table[255] == 255)
  }

  /// The values are those of the power and of sRGB's curve, rounded.
  @Test(arguments: [(1.0, [13, 22, 28, 34, 38]), (1 / 2.5, [93, 106, 114, 121, 126])])
  func darkGreyIsAsExactAsTheRest(exponent: Double, expected: [Int]) {
    let encoding = ColorEncoding.power(exponent, chromaticities: nil)
    guard case .grey(let table) = ProfileReader().conversion(for: encoding, kind: .grey) else {
      Issue.record("grey is not converted")
      return
    }
    #expect(isNear(Array(table[1...5]), expected, 1))
  }

  /// White of 203 cd/m² has the sample 0.58 of PQ, and 0.75 of HLG.
  @Test(arguments: [(TransferCurve.pq, 0.5807), (.hlg, 0.75)])
  func aWideRangeKeepsItsLowerHalfAndCompressesTheRest(curve: TransferCurve, white: Double) {
    #expect(curve.light(0) < 0.001)
    #expect(abs(curve.light(white) - 0.75) < 0.01)
    #expect(curve.light(1) < 1 && curve.light(1) > 0.9)
    let steps = (0...1000).map { curve.light(Double($0) / 1000) }
    #expect(zip(steps, steps.dropFirst()).allSatisfy { $0 <= $1 })
  }

  @Test func pqIsBrightEnoughToSee() throws {
    let pq = ColorEncoding.numbered(primaries: 9, transfer: 16)
    // Grey of 50 cd/m², a quarter of white, stays a quarter of white's light.
    let grey = try convert([112, 112, 112], pq)
    #expect(isNear(grey, [137, 137, 137], 4), "\(grey)")
  }

  @Test func aCurveIsKeptForTheNextPicture() {
    let reader = ProfileReader()
    let encoding = ColorEncoding.numbered(primaries: 12, transfer: 13)
    guard case .pixels(let first) = reader.conversion(for: encoding, kind: .rgb),
      case .pixels(let second) = reader.conversion(for: encoding, kind: .rgb)
    else {
      Issue.record("no transform")
      return
    }
    #expect(first === second && reader.bytesRemembered <= ProfileReader.bytesKept)
  }

  @Test func lumaAndChromaOfOtherWeightsAreConverted() throws {
    for matrix in [YCbCrMatrix.bt601, .bt709, .bt2020] {
      for color in [RGBColor(red: 255, green: 0, blue: 0), RGBColor(red: 30, green: 200, blue: 90), .white, .black] {
        let ycc = matrix.ycc(color)
        let (red, green, blue) = YCbCr(matrix).rgb(ycc[0], ycc[1], ycc[2])
        #expect(isNear([red, green, blue], [color.red, color.green, color.blue].map(Int.init)))
      }
    }
  }

  @Test func aPictureOfOtherWeightsGetsTheRightColors() throws {
    let color = RGBColor(red: 200, green: 60, blue: 40)
    let values = YCbCrMatrix.bt709.ycc(color)
    var samples = values.map { [UInt8](repeating: $0, count: 64 * 64) }
    func view(_ samples: inout [UInt8], _ side: Int) -> DecodedPlane {
      let base = samples.withUnsafeMutableBufferPointer { $0.baseAddress! }
      return DecodedPlane(
        view: PlaneView(base: base, columns: side, rows: side, stride: side), columnsExact: Double(side),
        rowsExact: Double(side))
    }
    let planes = [view(&samples[0], 64), view(&samples[1], 32), view(&samples[2], 32)]
    let picture = DecodedPicture(
      pixels: PixelSize(width: 64, height: 64), orientation: .upright, model: .ycc(.bt709), planes: planes)
    let options = ThumbnailOptions(sizes: [try SizeSpec(parsing: "16")], quality: 95)
    var made: [UInt8] = []
    try withExtendedLifetime(samples) {
      try ThumbnailMaker().makeThumbnails(of: picture, encoding: .sRGB, exif: [], options: options) {
        made = Array($0.bytes)
      }
    }
    let shown = try Picture(made).rgb(0.5, 0.5)
    #expect(isNear(shown.map { UInt8($0) }, [200, 60, 40], 4), "\(shown)")
  }

  @Test(arguments: [
    ("#a1b2c3", RGBColor(red: 0xA1, green: 0xB2, blue: 0xC3)), ("fff", .white), ("White", .white), ("#000", .black),
  ])
  func aColorIsReadFromText(text: String, color: RGBColor) { #expect(RGBColor(parsing: text) == color) }

  @Test(arguments: ["", "#", "#12345", "reddish", "#ggg", "#１２３", "0x1234"])
  func otherTextIsNoColor(text: String) { #expect(RGBColor(parsing: text) == nil) }
}
