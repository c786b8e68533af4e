import TestSupport
import Testing

@testable import Thumbnails

@Suite struct CropPositionTests {
  /// A grey picture, displayed as 60 × 240, that is darker from top to bottom. Its level is 250 less than the row.
  private static func ramp(_ orientation: Int) -> TestJPEG {
    let (width, height) = orientation >= 5 ? (240, 60) : (60, 240)
    let isReversed = [3, 4, 7, 8].contains(orientation)
    var source = TestJPEG.ycc(width, height, h: 2, v: 2) { component, x, y in
      let along = orientation >= 5 ? x : y
      return component == 0 ? 250 - (isReversed ? 240 - along : along) : 128
    }
    source.segments.append(TestExif(orientation: orientation).segment)
    return source
  }

  @Test(arguments: 1...8) func topIsTheTopAsDisplayed(_ orientation: Int) throws {
    let bytes = Self.ramp(orientation).bytes()
    for (position, row) in [("top", 30), ("", 120), ("bottom", 210), ("0.1,0.25", 60), ("left", 120)] {
      let made = try thumbnail(of: bytes, "30x30^\(position)")
      #expect(made.pixels == PixelSize(width: 30, height: 30))
      let level = 250 - row
      #expect(isClose(made.color(0.5, 0.5), [level, 128, 128], within: 6), "\(position)")
    }
  }

  /// A plain picture of 320 × 80 with a chequered square of 40 pixels that begins at `column`, displayed as the
  /// orientation says.
  private static func chequered(at column: Double, _ orientation: Int, isGrey: Bool = false) -> TestJPEG {
    let (width, height) = orientation >= 5 ? (80, 320) : (320, 80)
    var source = TestJPEG.ycc(width, height, h: 2, v: 2) { component, x, y in
      var (across, down) = orientation >= 5 ? (y, x) : (x, y)
      if [2, 3, 6, 7].contains(orientation) { across = 320 - across }
      if orientation >= 5 ? [7, 8].contains(orientation) : [3, 4].contains(orientation) { down = 80 - down }
      let isInside = (column..<(column + 40)).contains(across) && (20.0..<60).contains(down)
      let isOdd = (Int(across / 10) + Int(down / 10)) % 2 == 1
      if component > 0 || isGrey { return component > 0 && isInside && isOdd ? 180 : 128 }
      return isInside && isOdd ? 60 : 200
    }
    source.segments.append(TestExif(orientation: orientation).segment)
    return source
  }

  /// The middle of the columns of a thumbnail that differ from its corner, as a fraction of its width.
  private func middleOfDetails(_ picture: Picture) -> Double? {
    let places = stride(from: 0.005, to: 1, by: 0.01).filter { x in
      stride(from: 0.3, to: 0.7, by: 0.02).contains {
        !isClose(picture.color(x, $0), picture.color(0.02, 0.02), within: 25)
      }
    }
    guard let first = places.first, let last = places.last else { return nil }
    return (first + last) / 2
  }

  @Test(arguments: 1...8) func attentionShowsTheDetails(_ orientation: Int) throws {
    for column in [40.0, 140, 230] {
      let made = try thumbnail(of: Self.chequered(at: column, orientation).bytes(), "40x40^attention")
      let middle = try #require(middleOfDetails(made), "at \(column) there is nothing to see")
      #expect((0.35...0.65).contains(middle), "at \(column) the details are at \(middle)")
    }
    // At the edge of the picture they cannot be in the middle.
    let made = try thumbnail(of: Self.chequered(at: 280, orientation).bytes(), "40x40^attention")
    #expect(try #require(middleOfDetails(made)) > 0.6)
    let centre = try thumbnail(of: Self.chequered(at: 280, orientation).bytes(), "40x40^")
    #expect(middleOfDetails(centre) == nil)
  }

  @Test func attentionSeesColourAlone() throws {
    let made = try thumbnail(of: Self.chequered(at: 230, 1, isGrey: true).bytes(), "40x40^attention")
    #expect((0.35...0.65).contains(try #require(middleOfDetails(made))))
  }

  @Test(arguments: [(400, 200), (200, 400), (65_500, 2), (1, 700), (3, 2), (1, 1)])
  func aPlainPictureShowsItsMiddle(_ width: Int, _ height: Int) throws {
    let source = TestJPEG.ycc(width, height, h: 1, v: 1) { component, _, _ in component == 0 ? 90 : 120 }.bytes()
    var made: [[UInt8]] = []
    for size in ["20x20^attention", "20x20^"] {
      made += try thumbnails(of: source, ThumbnailOptions(sizes: [try SizeSpec(parsing: size)]))
    }
    #expect(made.count == 2 && made[0] == made[1])
  }
}
