import CDecoding
import TestSupport
import Testing
import Thumbnails

@testable import Pictures

/// Pictures that are drawn onto each other, and onto a canvas.
@Suite(.timeLimit(.minutes(1)))
struct HEIFOverlayTests {
  private static let grey: [Double] = [90, 90, 90]

  /// Makes an overlay of items on a grey canvas the primary picture.
  private static func draw(
    _ parts: [Int], at places: [(x: Int, y: Int)], on size: (width: Int, height: Int), into file: inout TestHEIF
  ) {
    let color = [90, 90, 90, 0].flatMap { TestHEIF.number($0 * 257, 2) }
    let sides = TestHEIF.number(size.width, 2) + TestHEIF.number(size.height, 2)
    let data = [0, 0] + color + sides + places.flatMap { TestHEIF.number($0.x, 2) + TestHEIF.number($0.y, 2) }
    file.primary = file.add(TestHEIF.Item(type: "iovl", data: data, isInItemData: true))
    file.refer("dimg", from: file.primary, to: parts)
  }

  /// The second picture lies on the first, and the canvas shows where neither is; both go beyond it.
  @Test(arguments: [CodedPicture.hevcColors, .av1Colors], [1, 4])
  func picturesAreDrawnOntoEachOther(_ picture: CodedPicture, _ shrink: Int) throws {
    var file = TestHEIF()
    let parts = [file.add(picture), file.add(picture)]
    Self.draw(parts, at: [(-16, 0), (16, 32)], on: (112, 80), into: &file)
    let header = try PictureHeader.heif(file.bytes)
    #expect(header.pixels == PixelSize(width: 112, height: 80))
    #expect(!header.hasAlpha)
    let decoded = DecodedTiles(header, in: file.bytes, shrink: shrink)
    #expect(decoded.status == CDECODING_OK, "\(decoded.message)")
    let quarters = CodedPicture.quarters
    // In pixels: the first picture's quarters; the second's, which covers the lower right of the first; the canvas.
    for (x, y, color) in [
      (8, 16, quarters[0]), (32, 16, quarters[1]), (8, 48, quarters[2]), (32, 48, quarters[0]), (64, 48, quarters[1]),
      (32, 72, quarters[2]), (64, 72, quarters[3]), (96, 40, Self.grey), (64, 16, Self.grey), (8, 72, Self.grey),
    ] as [(Int, Int, [Double])] {
      let (column, row) = (x / shrink, y / shrink)
      #expect(decoded.error(column, row, from: color) < 7, "\(x), \(y): \(decoded.color(column, row))")
    }
  }

  private struct Kind: Sendable, CustomTestStringConvertible {
    let colors, alpha: CodedPicture
    let isMultiplied: Bool

    var testDescription: String { "\(colors.type), multiplied \(isMultiplied)" }
  }

  private static let kinds = [
    Kind(colors: .hevcColors, alpha: .hevcSteps, isMultiplied: false),
    Kind(colors: .hevcMultiplied, alpha: .hevcSteps, isMultiplied: true),
    Kind(colors: .av1Colors, alpha: .av1Steps, isMultiplied: false),
    Kind(colors: .av1Multiplied, alpha: .av1Steps, isMultiplied: true),
  ]

  /// Adds a picture with alpha; its number.
  private static func add(_ kind: Kind, to file: inout TestHEIF) -> Int {
    let part = file.add(kind.colors)
    let alpha = file.add(kind.alpha, [TestHEIF.alphaType])
    file.refer("auxl", from: alpha, to: [part])
    if kind.isMultiplied { file.refer("prem", from: part, to: [alpha]) }
    return part
  }

  /// Two pictures of which the upper one covers the right half of the lower one. What is below shows through: the lower
  /// picture, and the canvas also through both.
  @Test(arguments: kinds, [1, 4])
  private func transparentPicturesAreDrawnOntoOthers(_ kind: Kind, _ shrink: Int) throws {
    let opacities = [1, 128.0 / 255, 128.0 / 255, 0]
    for isLowerTransparent in kind.isMultiplied ? [true] : [false, true] {
      var file = TestHEIF()
      let lower = isLowerTransparent ? Self.add(kind, to: &file) : file.add(kind.colors)
      let parts = [lower, Self.add(kind, to: &file)]
      let places = [(x: 0, y: 0), (x: 32, y: 16)]
      Self.draw(parts, at: places, on: (96, 80), into: &file)
      let header = try PictureHeader.heif(file.bytes)
      let decoded = DecodedTiles(header, in: file.bytes, shrink: shrink)
      #expect(decoded.status == CDECODING_OK, "\(decoded.message)")
      for (x, y) in [8, 24, 40, 56, 72, 88].flatMap({ x in [8, 24, 40, 56, 72].map { (x, $0) } }) {
        var color = Self.grey
        for (index, place) in places.enumerated() {
          let (right, down) = (x - place.x, y - place.y)
          guard (0..<64).contains(right), (0..<64).contains(down) else { continue }
          let quarter = right / 32 + down / 32 * 2
          let opacity = index == 0 && !isLowerTransparent ? 1 : opacities[quarter]
          let above =
            kind.isMultiplied
            ? CodedPicture.multipliedQuarters[quarter] : CodedPicture.quarters[quarter].map { $0 * opacity }
          color = zip(color, above).map { $0 * (1 - opacity) + $1 }
        }
        let (column, row) = (x / shrink, y / shrink)
        #expect(decoded.error(column, row, from: color) < 8, "\(x), \(y): \(decoded.color(column, row)), not \(color)")
      }
    }
  }

  /// The decoder is told once for all pictures whether colours are multiplied.
  @Test func allTransparentPicturesOfAnOverlayAreMultipliedOrNone() throws {
    var file = TestHEIF()
    let parts = Self.kinds.prefix(2).map { Self.add($0, to: &file) }
    Self.draw(parts, at: [(0, 0), (0, 0)], on: (64, 64), into: &file)
    let error = ThumbnailError.unsupported(
      "pictures of which some are multiplied by their alpha, drawn onto each other")
    #expect(throws: error) { try PictureHeader.heif(file.bytes) }
  }

  /// Nothing of the canvas shows, and no picture covers another one: they are decoded like the tiles of a grid.
  @Test func opaquePicturesBesideEachOtherNeedNoCanvas() throws {
    var file = TestHEIF()
    let parts = [file.add(.hevcColors), file.add(.hevcColors)]
    Self.draw(parts, at: [(0, 0), (64, 0)], on: (128, 64), into: &file)
    #expect(try PictureHeader.heif(file.bytes).canvas == nil)
  }

  /// A picture on a canvas is no tile: its canvas shows too.
  @Test func anOverlayIsNoPartOfAnotherOne() throws {
    var file = TestHEIF()
    let part = file.add(.hevcColors)
    Self.draw([part], at: [(32, 0)], on: (64, 64), into: &file)
    let inner = file.primary
    Self.draw([inner], at: [(0, 0)], on: (64, 64), into: &file)
    let error = ThumbnailError.unsupported("a picture made of pictures that are cut, turned or derived")
    #expect(throws: error) { try PictureHeader.heif(file.bytes) }
  }

  /// The maps of what is uncovered and of alpha have a byte for each pixel of the canvas, and there are sums even if each
  /// pixel is one of the thumbnail.
  @Test func memoryForCoveringIsReserved() throws {
    func bytes(_ isTransparent: Bool, _ side: Int) throws -> Int {
      var file = TestHEIF()
      let part = isTransparent ? Self.add(Self.kinds[0], to: &file) : file.add(.hevcColors)
      Self.draw([part], at: [(0, 0)], on: (side, side), into: &file)
      return try PictureHeader.heif(file.bytes).workingBytes
    }
    #expect(try bytes(false, 2000) - bytes(false, 1000) == 3_000_000)
    #expect(try bytes(true, 2000) - bytes(true, 1000) == 6_000_000)
    var file = TestHEIF()
    Self.draw([file.add(.hevcColors)], at: [(0, 0)], on: (1000, 1000), into: &file)
    let header = try PictureHeader.heif(file.bytes)
    let request = DecodeRequest(header, reduction: 1, background: RGBColor(red: 0, green: 0, blue: 0), failMask: 0)
    #expect(request.decoderBytes - header.workingBytes == 4 * 4 * 1_000_000)
  }
}
