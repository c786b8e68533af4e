import CLcms2
import TestSupport
import Testing

@testable import Thumbnails

@Suite struct ColorTests {
  private static func flat(_ ids: [UInt8], _ values: [Double], segments: [[UInt8]] = []) -> TestJPEG {
    TestJPEG(
      width: 40, height: 30, components: ids.map { TestJPEG.Component(id: $0) }, segments: segments
    ) { component, _, _ in values[component] }
  }

  @Test(arguments: [([82, 71, 66], []), ([1, 2, 3], [TestJPEG.adobe(transform: 0)])] as [([UInt8], [[UInt8]])])
  func rgbIsDetectedByComponentIdentifiersOrAdobesMarker(_ ids: [UInt8], _ segments: [[UInt8]]) throws {
    let made = try thumbnail(of: Self.flat(ids, [200, 40, 90], segments: segments).bytes(), "8")
    #expect(isClose(made.rgb(0.5, 0.5), [200, 40, 90], within: 3))
  }

  /// Also without Adobe's marker: Pillow, libvips, ImageMagick, GraphicsMagick, gdk-pixbuf and djpeg show it so.
  @Test(arguments: [[], [TestJPEG.adobe(transform: 0)]] as [[[UInt8]]])
  func inCMYK255IsNoInk(segments: [[UInt8]]) throws {
    let source = Self.flat([1, 2, 3, 4], [0, 204, 255, 153], segments: segments)
    #expect(isClose(try thumbnail(of: source.bytes(), "8").rgb(0.5, 0.5), [0, 122, 153], within: 3))
  }

  @Test func ycckIsCMYKStoredAsYCbCr() throws {
    // Adobe stores 255 less ink, and YCbCr holds the complement of that: stored C 0, M 204, Y 255 is R 255, G 51, B 0.
    let (y, cb, cr) = YCbCr.ycc(255, 51, 0)
    let source = Self.flat(
      [1, 2, 3, 4], [Double(y), Double(cb), Double(cr), 153], segments: [TestJPEG.adobe(transform: 2)])
    #expect(isClose(try thumbnail(of: source.bytes(), "8").rgb(0.5, 0.5), [0, 122, 153], within: 3))
  }

  @Test func greyStaysGrey() throws {
    let made = try thumbnail(of: TestJPEG.grey(40, 30) { _, _ in 77 }.bytes(), "9x9^")
    #expect(made.planes.count == 1)
    #expect(made.value(0, 0.5, 0.5) == 77)
  }

  @Test func aWideProfileIsConvertedToSRGB() throws {
    let profile = TestProfile.wide()
    let source = Self.flat([82, 71, 66], [60, 180, 90], segments: TestProfile.segments(profile))
    let made = try thumbnail(of: source.bytes(), "8") { $0.subsampling = .s444 }
    // The expected colour is computed by Little CMS in floating point.
    let expected = TestProfile.toSRGB(profile, [60, 180, 90])
    #expect(!isClose(expected, [60, 180, 90], within: 30), "the profile changes too little to test anything")
    #expect(isClose(made.rgb(0.5, 0.5), expected, within: 3))
    #expect(made.profile.isEmpty)
  }

  @Test func aWideProfileOfAYCbCrPictureIsConvertedToSRGB() throws {
    let profile = TestProfile.wide()
    let (y, cb, cr) = YCbCr.ycc(120, 140, 90)
    let source = Self.flat(
      [1, 2, 3], [Double(y), Double(cb), Double(cr)], segments: [TestJPEG.jfif] + TestProfile.segments(profile))
    let expected = TestProfile.toSRGB(profile, [120, 140, 90])
    #expect(isClose(try thumbnail(of: source.bytes(), "8").rgb(0.5, 0.5), expected, within: 4))
  }

  @Test func anSRGBProfileChangesNoByte() throws {
    var source = TestJPEG.ycc(60, 40, h: 2, v: 2, value: SamplingTests.slope(60, 40))
    let options = ThumbnailOptions(sizes: [try SizeSpec(parsing: "20")])
    let plain = try thumbnails(of: source.bytes(), options)
    source.segments += TestProfile.segments(TestProfile.sRGB())
    #expect(try ThumbnailMaker.readInfo(of: ByteReader(bytes: source.bytes())).hasProfile)
    #expect(try thumbnails(of: source.bytes(), options) == plain)
  }

  @Test func aGreyProfileIsConvertedToSRGBsCurve() throws {
    var source = TestJPEG.grey(40, 30) { _, _ in 100 }
    source.segments += TestProfile.segments(TestProfile.grey(gamma: 1))
    let made = try thumbnail(of: source.bytes(), "8")
    #expect(made.planes.count == 1)
    // 100/255 of full light is sRGB value 168.
    #expect(abs(made.value(0, 0.5, 0.5) - 168) <= 2)
  }

  @Test func anRGBProfileOfAGreyPictureIsIgnored() throws {
    var source = TestJPEG.grey(40, 30) { _, _ in 100 }
    let options = ThumbnailOptions(sizes: [try SizeSpec(parsing: "20")], keep: .icc)
    let plain = try thumbnails(of: source.bytes(), options)
    source.segments += TestProfile.segments(TestProfile.wide())
    #expect(try thumbnails(of: source.bytes(), options) == plain)
  }

  @Test(
    arguments: [[10, 0, 40, 0], [255, 0, 0, 0], [0, 255, 0, 0], [30, 60, 200, 10], [0, 0, 0, 255]] as [[UInt8]])
  func aCMYKProfileDeterminesTheColoursOfInks(_ inks: [UInt8]) throws {
    let profile = TestProfile.inks()
    let expected = TestProfile.toSRGB(profile, inks)
    let stored = inks.map { 255 - Double($0) }
    for adobe in [[], [TestJPEG.adobe(transform: 0)]] {
      let source = Self.flat([1, 2, 3, 4], stored, segments: adobe + TestProfile.segments(profile))
      // A CMYK profile is not kept: its picture is always converted.
      for keep in [[], .icc] as [KeptMetadata] {
        let made = try thumbnail(of: source.bytes(), "8") { $0.keep = keep }
        #expect(isClose(made.rgb(0.5, 0.5), expected, within: 4), "\(made.rgb(0.5, 0.5)) for \(expected)")
        #expect(made.profile.isEmpty)
      }
    }
    let plain = try thumbnail(of: Self.flat([1, 2, 3, 4], stored).bytes(), "8")
    #expect(!isClose(plain.rgb(0.5, 0.5), expected, within: 15), "the profile changes too little to test anything")
  }

  @Test func aYCCKPictureIsConvertedByItsCMYKProfile() throws {
    let profile = TestProfile.inks()
    let (y, cb, cr) = YCbCr.ycc(200, 90, 60)
    let source = Self.flat(
      [1, 2, 3, 4], [Double(y), Double(cb), Double(cr), 225],
      segments: [TestJPEG.adobe(transform: 2)] + TestProfile.segments(profile))
    // Adobe stores 255 less ink, and YCbCr holds the complement of that, which is ink again.
    let expected = TestProfile.toSRGB(profile, [200, 90, 60, 30])
    #expect(isClose(try thumbnail(of: source.bytes(), "8").rgb(0.5, 0.5), expected, within: 5))
  }

  @Test func profilesOfOtherColourSpacesAreIgnored() throws {
    let pairs: [(TestJPEG, [UInt8])] = [
      (Self.flat([1, 2, 3, 4], [10, 90, 170, 40]), TestProfile.wide()),
      (Self.flat([1, 2, 3, 4], [10, 90, 170, 40]), TestProfile.grey(gamma: 1)),
      (Self.flat([82, 71, 66], [10, 90, 170]), TestProfile.inks()),
      (Self.flat([82, 71, 66], [10, 90, 170]), TestProfile.grey(gamma: 1)),
    ]
    let options = ThumbnailOptions(sizes: [try SizeSpec(parsing: "8")], keep: .icc)
    for (plain, profile) in pairs {
      var tagged = plain
      tagged.segments += TestProfile.segments(profile)
      #expect(try ThumbnailMaker.readInfo(of: ByteReader(bytes: tagged.bytes())).hasProfile)
      #expect(try thumbnails(of: tagged.bytes(), options) == thumbnails(of: plain.bytes(), options))
    }
  }

  @Test func chunksOfAProfileAreJoinedFromAnyOrder() throws {
    let profile = TestProfile.wide()
    let chunks = TestProfile.segments(profile, chunkSize: 100)
    #expect(chunks.count > 3)
    for order in [chunks, chunks.reversed()] {
      let source = Self.flat([82, 71, 66], [60, 180, 90], segments: order)
      #expect(try Picture(source.bytes()).profile == profile)
    }
  }

  @Test func incompleteOrContradictoryChunksAreIgnored() throws {
    let chunks = TestProfile.segments(TestProfile.wide(), chunkSize: 200)
    func changed(_ sequence: UInt8?, _ total: UInt8?) -> [[UInt8]] {
      var hostile = chunks
      if let sequence { hostile[1][16] = sequence }
      if let total { hostile[1][17] = total }
      return hostile
    }
    let hostile = [
      changed(0, nil), changed(1, nil), changed(255, nil), changed(nil, 0), changed(nil, 255), Array(chunks.dropLast()),
      Array(chunks.dropFirst()), chunks + [chunks[0]], [Array(chunks[0].prefix(18))],
    ]
    for segments in hostile {
      var fixed = segments
      for index in fixed.indices {
        fixed[index][2] = UInt8((fixed[index].count - 2) >> 8)
        fixed[index][3] = UInt8((fixed[index].count - 2) & 255)
      }
      let source = Self.flat([82, 71, 66], [60, 180, 90], segments: fixed)
      let made = try thumbnail(of: source.bytes(), "8")
      #expect(isClose(made.rgb(0.5, 0.5), [60, 180, 90], within: 3))
    }
  }

  @Test func aProfileOverTheSizeLimitIsIgnored() throws {
    // 66 chunks of 65519 bytes are just over 4 MiB.
    let profile = TestProfile.wide() + [UInt8](repeating: 0, count: 65 * 65_519)
    let source = Self.flat([82, 71, 66], [60, 180, 90], segments: TestProfile.segments(profile))
    #expect(try Picture(source.bytes()).profile.isEmpty)
  }

  @Test func brokenProfilesNeverBreakAThumbnail() throws {
    let profile = TestProfile.wide()
    let maker = ThumbnailMaker()
    var random = SplitMix(seed: 11)
    for _ in 0..<300 {
      var broken = profile
      for _ in 0..<4 { broken[Int(random.next() % UInt64(broken.count))] = UInt8(truncatingIfNeeded: random.next()) }
      let source = Self.flat([82, 71, 66], [60, 180, 90], segments: TestProfile.segments(broken))
      _ = try thumbnail(of: source.bytes(), "8", maker: maker)
    }
  }

  @Test func aKeptProfileIsNotConverted() throws {
    let profile = TestProfile.wide()
    let source = Self.flat([82, 71, 66], [60, 180, 90], segments: TestProfile.segments(profile))
    let made = try thumbnail(of: source.bytes(), "8") { $0.keep = .icc }
    #expect(made.profile == profile)
    #expect(isClose(made.rgb(0.5, 0.5), [60, 180, 90], within: 3))
  }
}
