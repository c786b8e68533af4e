import Foundation
import Testing
import Thumbnails

@testable import Pictures

@Suite struct PictureVersionTests {
  private func header(_ width: Int, _ height: Int, _ orientation: Orientation = .upright) -> PictureHeader {
    var header = PictureHeader(
      type: .dng, pixels: PixelSize(width: width, height: height), components: .rgb, coding: .tiff(directory: 8),
      workingBytes: 0)
    header.orientation = orientation
    return header
  }

  /// The width of a thumbnail, and of the version that is decoded for it.
  @Test(arguments: [(100, 320), (160, 320), (161, 810), (256, 810), (405, 810), (406, 1620), (810, 1620), (811, 6000)])
  func theSmallestVersionWithTwiceTheTargetIsTaken(_ target: Int, _ expected: Int) {
    var header = header(6000, 4000)
    // 160 × 120 has bars above and below the picture; 1920 × 1080 lacks some of it.
    header.reduced = [(1620, 1080), (160, 120), (320, 213), (810, 540), (1920, 1080)].map { self.header($0.0, $0.1) }
    let size = PixelSize(width: target, height: target * 2 / 3)
    #expect(header.smallestVersion(for: size).pixels.width == expected)
  }

  @Test func bothSidesMustHaveTwiceTheTarget() {
    var header = header(6000, 4000)
    header.reduced = [self.header(800, 534)]
    #expect(header.smallestVersion(for: PixelSize(width: 256, height: 267)).pixels.width == 800)
    #expect(header.smallestVersion(for: PixelSize(width: 256, height: 268)).pixels.width == 6000)
  }

  @Test func sizesAreComparedAsDisplayed() {
    var header = header(6000, 4000, .rotated90)
    header.reduced = [self.header(1200, 800, .rotated90), self.header(600, 400), self.header(400, 600)]
    // Upright, 400 × 600 has the shape of the turned picture, and 600 × 400 has not.
    #expect(
      header.smallestVersion(for: PixelSize(width: 200, height: 300)).pixels == PixelSize(width: 400, height: 600))
    #expect(
      header.smallestVersion(for: PixelSize(width: 201, height: 300)).pixels == PixelSize(width: 1200, height: 800))
  }

  /// A file may turn its smaller version and not the whole picture.
  @Test func aTurnedVersionIsReducedLikeAnUprightOne() throws {
    let options = ThumbnailOptions(sizes: [try SizeSpec(parsing: "256")])
    let planes = try [self.header(1200, 800), self.header(800, 1200, .rotated90)].map { version in
      var header = header(6000, 4000)
      header.reduced = [version]
      guard case .decoder(let request, let taken) = try header.plan(for: options) else { return (UInt32(0), UInt32(0)) }
      #expect(taken.pixels == version.pixels)
      return (request.planes[0].columns, request.planes[0].rows)
    }
    #expect(planes[0].0 > 1)
    #expect(planes[0] == (planes[1].1, planes[1].0))
  }

  @Test func aHeaderIsReadNoFurtherOnceItIsCancelled() {
    let png = ByteReader(bytes: [UInt8](repeating: 0, count: 100))
    #expect(throws: ThumbnailError.unreadable(ECANCELED)) {
      try PictureReader.readHeader(of: ByteReader(png) { false }, type: .png)
    }
  }

  @Test(arguments: [
    (6000, 4000, 1620, 1080, true), (6000, 4000, 1600, 1080, false), (6000, 4000, 1606, 1080, true),
    (1001, 667, 15, 10, true), (4000, 3000, 160, 120, true), (6000, 4000, 160, 120, false),
    (1_000_000, 10, 500_000, 10, false),
  ])
  func shapesMayDifferByOnePercentOrOnePixel(_ a: Int, _ b: Int, _ c: Int, _ d: Int, _ isSame: Bool) {
    #expect(PixelSize(width: c, height: d).hasShape(of: PixelSize(width: a, height: b)) == isSame)
  }
}
