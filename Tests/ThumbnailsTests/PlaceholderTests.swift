import TestSupport
import Testing

@testable import Thumbnails

@Suite(.timeLimit(.minutes(5))) struct PlaceholderTests {
  /// The placeholder of a source, and its first thumbnail, decoded.
  private static func make(
    _ source: [UInt8], _ sizes: String..., change: (inout ThumbnailOptions) -> Void = { _ in }
  ) throws -> (placeholder: Placeholder, thumbnail: Picture) {
    var options = ThumbnailOptions(sizes: try sizes.map { try SizeSpec(parsing: $0) }, quality: 100)
    options.makesPlaceholder = true
    change(&options)
    var made: [(Placeholder?, Picture)] = []
    try ThumbnailMaker().makeThumbnails(of: ByteReader(bytes: source), options: options) {
      made.append(($0.placeholder, try Picture(Array($0.bytes))))
    }
    #expect(made.count == sizes.count && made.allSatisfy { $0.0 == made[0].0 })
    return (try #require(made[0].0), made[0].1)
  }

  private static func photo(change: (inout SyntheticPhoto) -> Void = { _ in }) -> [UInt8] {
    var photo = SyntheticPhoto(seed: 4, width: 600, height: 400)
    change(&photo)
    return photo.jpeg()
  }

  /// The mean difference between two pictures, 0 to 255, over points all over them.
  private static func difference(
    _ a: (Double, Double) -> [Double], _ b: (Double, Double) -> [Double]
  ) -> Double {
    var sum = 0.0
    for row in 0..<16 {
      for column in 0..<16 {
        let (x, y) = ((Double(column) + 0.5) / 16, (Double(row) + 0.5) / 16)
        sum += zip(a(x, y), b(x, y)).reduce(0) { $0 + abs($1.0 - $1.1) }
      }
    }
    return sum / (16 * 16 * 3)
  }

  private static func difference(_ a: Placeholder, _ b: Placeholder) -> Double {
    difference(DecodedThumbHash(a.thumbHash).rgb, DecodedThumbHash(b.thumbHash).rgb)
  }

  private static func difference(_ placeholder: Placeholder, _ picture: Picture) -> Double {
    difference(DecodedThumbHash(placeholder.thumbHash).rgb, blurred(picture))
  }

  /// The colour of a picture around a point: the mean of 25 points of its sixteenth.
  private static func blurred(_ picture: Picture) -> (Double, Double) -> [Double] {
    { x, y in
      var sums = [0.0, 0, 0]
      for row in -2...2 {
        for column in -2...2 {
          let near = picture.rgb(x + Double(column) / 80, y + Double(row) / 80)
          for channel in 0..<3 { sums[channel] += Double(near[channel]) / 25 }
        }
      }
      return sums
    }
  }

  private static func values(_ color: RGBColor) -> [Int] { [Int(color.red), Int(color.green), Int(color.blue)] }

  /// The mean of a decoded picture's pixels, whose chroma has all rows and columns or half of them.
  private static func mean(_ picture: Picture) -> [Int] {
    let (width, height) = (picture.pixels.width, picture.pixels.height)
    var sums = [0, 0, 0]
    for y in 0..<height {
      for x in 0..<width {
        let samples = picture.planes.map { plane in
          let half = plane.columns < width || plane.rows < height ? 2 : 1
          return plane.samples[y / half * plane.columns + x / half]
        }
        let grey = samples.count == 1
        let (red, green, blue) =
          grey ? (samples[0], samples[0], samples[0]) : YCbCr.jpeg.rgb(samples[0], samples[1], samples[2])
        for (index, value) in [red, green, blue].enumerated() { sums[index] += Int(value) }
      }
    }
    return sums.map { ($0 * 2 + width * height) / (2 * width * height) }
  }

  @Test func onlyTheOptionMakesAPlaceholderAndNoByteDependsOnIt() throws {
    var options = ThumbnailOptions(sizes: [try SizeSpec(parsing: "120"), try SizeSpec(parsing: "60x60^")])
    #expect(!options.makesPlaceholder)
    let source = ByteReader(bytes: Self.photo())
    var made: [[[UInt8]]] = []
    for isWanted in [false, true] {
      options.makesPlaceholder = isWanted
      var files: [[UInt8]] = []
      try ThumbnailMaker().makeThumbnails(of: source, options: options) {
        files.append(Array($0.bytes))
        #expect(($0.placeholder != nil) == isWanted)
      }
      made.append(files)
    }
    #expect(made[0] == made[1])
  }

  @Test func theFirstSizeMakesThePlaceholderOfAll() throws {
    let first = try Self.make(Self.photo(), "200x40^").placeholder
    #expect(try Self.make(Self.photo(), "200x40^", "120", "40x200^").placeholder == first)
    #expect(try Self.make(Self.photo(), "120", "200x40^").placeholder != first)
  }

  @Test func aSourceThatIsRenderedAheadHasTheSamePlaceholder() throws {
    let options = ThumbnailOptions(sizes: [try SizeSpec(parsing: "120")], makesPlaceholder: true)
    var ahead: Placeholder?
    let maker = ThumbnailMaker()
    try maker.encode(maker.render(ByteReader(bytes: Self.photo()), options: options)) { ahead = $0.placeholder }
    #expect(try ahead == Self.make(Self.photo(), "120").placeholder)
  }

  @Test func textsAreThoseOfStyleSheetsAndBase64() throws {
    let placeholder = Placeholder(ThumbHashTests.Formula.photo.picture(100, 75))
    #expect(placeholder.meanColor == RGBColor(red: 115, green: 131, blue: 137))
    #expect(placeholder.thumbHashText == "oOcNRYiGeIiPh4eHh1eHd3dwVQeI")
    #expect(placeholder.description == "#738389 oOcNRYiGeIiPh4eHh1eHd3dwVQeI")
    #expect(RGBColor(red: 0, green: 10, blue: 255).description == "#000aff")
    #expect(RGBColor(red: 0, green: 0, blue: 0).description == "#000000")
  }

  @Test(arguments: ChromaSubsampling.allCases) func aPlaceholderResemblesItsPhoto(_ subsampling: ChromaSubsampling)
    throws
  {
    let (photo, thumbnail) = try Self.make(Self.photo(), "256") { $0.subsampling = subsampling }
    let difference = Self.difference(photo, thumbnail)
    #expect(difference < 14, "\(difference)")
    // The limit can be exceeded: by the same picture upside down, and by one of its mean colour.
    let turned = Self.difference(DecodedThumbHash(photo.thumbHash).rgb) { Self.blurred(thumbnail)(1 - $0, 1 - $1) }
    let flat = Self.difference({ _, _ in Self.values(photo.meanColor).map(Double.init) }, Self.blurred(thumbnail))
    #expect(turned > 28 && flat > 28, "\(difference) \(turned) \(flat)")
  }

  @Test(arguments: ["40", "100", "101", "256", "333", "600", "77x200!", "133x99^"], ChromaSubsampling.allCases)
  func theMeanColourIsThatOfTheThumbnail(_ size: String, _ subsampling: ChromaSubsampling) throws {
    for isLinear in [false, true] {
      let (placeholder, thumbnail) = try Self.make(Self.photo(), size) {
        $0.subsampling = subsampling
        $0.linear = isLinear
      }
      let expected = Self.mean(thumbnail)
      #expect(isClose(Self.values(placeholder.meanColor), expected, within: 1), "\(placeholder) \(expected)")
      // The hash has the mean in 64 steps for each channel, of which blue depends on two.
      let mean = DecodedThumbHash(placeholder.thumbHash).mean.map { Int($0.rounded()) }
      #expect(isClose(mean, expected, within: 6), "\(mean) \(expected)")
    }
  }

  /// 4:2:0 and 4:4:4, the size of the thumbnail, resizing in linear light and how the source is stored change the
  /// placeholder little.
  @Test func everyWayToMakeAThumbnailGivesAboutTheSamePlaceholder() throws {
    let expected = try Self.make(Self.photo(), "256").placeholder
    let progressive = Self.photo { $0.isProgressive = true }
    let others = try [
      Self.make(Self.photo(), "256") { $0.subsampling = .s444 }, Self.make(Self.photo(), "90"),
      Self.make(Self.photo(), "599"),
      Self.make(Self.photo(), "256") { $0.linear = true }, Self.make(progressive, "256"),
      Self.make(Self.photo { $0.hasFullChroma = true }, "255") { $0.subsampling = .s444 },
    ]
    for (index, other) in others.enumerated() {
      #expect(isClose(Self.values(other.placeholder.meanColor), Self.values(expected.meanColor), within: 2), "\(index)")
      #expect(Self.difference(other.placeholder, expected) < 3, "\(index)")
    }
    #expect(try Self.difference(Self.make(Self.photo { $0.seed = 5 }, "256").placeholder, expected) > 6)
  }

  @Test(arguments: 1...8) func thePlaceholderIsUpright(_ orientation: Int) throws {
    // The scene is displayed as 600 × 400, however it is stored.
    let upright = try Self.make(Self.photo(), "256").placeholder
    let turned = Self.photo {
      if orientation >= 5 { ($0.width, $0.height) = ($0.height, $0.width) }
      $0.orientation = orientation
    }
    let made = try Self.make(turned, "256").placeholder
    #expect(Self.difference(made, upright) < 1 && DecodedThumbHash(made.thumbHash).isLandscape)
    #expect(isClose(Self.values(made.meanColor), Self.values(upright.meanColor), within: 1))
  }

  @Test func aGreyPictureIsGreyHoweverItIsStored() throws {
    let photo = Self.photo { $0.isGrey = true }
    let (grey, thumbnail) = try Self.make(photo, "256")
    #expect(thumbnail.planes.count == 1)
    #expect(grey.meanColor.red == grey.meanColor.green && grey.meanColor.green == grey.meanColor.blue)
    #expect(isClose(Self.values(grey.meanColor), Self.mean(thumbnail), within: 1))
    #expect(Self.difference(grey, thumbnail) < 11)
    let slope = TestJPEG.grey(300, 200) { 30 + $0 / 2 + $1 / 4 }.bytes()
    let colored = TestJPEG.ycc(300, 200, h: 2, v: 2) { $0 == 0 ? 30 + $1 / 2 + $2 / 4 : 128 }.bytes()
    #expect(try Self.make(slope, "90").placeholder == Self.make(colored, "90").placeholder)
  }

  /// Only what the thumbnail shows counts: the middle of three stripes in a crop, and all three when it is distorted.
  @Test func aCroppedThumbnailHasThePlaceholderOfItsPart() throws {
    let stripes = TestJPEG.ycc(300, 100) { component, x, _ in
      [[200, 90, 60][component], [90, 100, 170][component], [150, 160, 90][component]][min(Int(x / 100), 2)]
    }.bytes()
    let (cropped, thumbnail) = try Self.make(stripes, "60x60^")
    let (r, g, b) = YCbCr.jpeg.rgb(90, 100, 170)
    #expect(isClose(Self.values(cropped.meanColor), [r, g, b].map(Int.init), within: 2))
    #expect(isClose(Self.values(cropped.meanColor), Self.mean(thumbnail), within: 1))
    let whole = try Self.make(stripes, "60")
    let distorted = try Self.make(stripes, "60x60!")
    #expect(isClose(Self.values(whole.placeholder.meanColor), Self.values(distorted.placeholder.meanColor), within: 1))
    #expect(!isClose(Self.values(whole.placeholder.meanColor), Self.values(cropped.meanColor), within: 10))
    #expect(DecodedThumbHash(whole.placeholder.thumbHash).isLandscape)
    #expect(!DecodedThumbHash(distorted.placeholder.thumbHash).isLandscape)
  }

  /// Colours that YCbCr has and sRGB does not are limited before the mean is made, as a viewer does.
  @Test(
    arguments: [
      [0, 128, 128], [255, 128, 128], [120, 128, 128], [80, 90, 200], [200, 60, 120], [29, 255, 107], [255, 255, 255],
      [0, 0, 0],
    ] as [[UInt8]], ["16", "1", "100", "150<", "7x131!<", "333x40!<"])
  func aFlatPictureHasItsColour(_ color: [UInt8], _ size: String) throws {
    let source = TestJPEG.ycc(50, 38, h: 2, v: 2) { component, _, _ in Double(color[component]) }.bytes()
    let (red, green, blue) = YCbCr.jpeg.rgb(color[0], color[1], color[2])
    for subsampling in ChromaSubsampling.allCases {
      let made = try Self.make(source, size) { $0.subsampling = subsampling }.placeholder
      #expect(isClose(Self.values(made.meanColor), [red, green, blue].map(Int.init), within: 1), "\(made)")
      let decoded = DecodedThumbHash(made.thumbHash)
      for point in [(0.1, 0.1), (0.9, 0.4)] {
        let shown = decoded.rgb(point.0, point.1).map { Int($0.rounded()) }
        #expect(isClose(shown, [red, green, blue].map(Int.init), within: 6), "\(shown) for \(color)")
      }
    }
  }

  @Test func inksAndProfilesAreConverted() throws {
    func flat(_ values: [Double], _ segments: [[UInt8]]) -> [UInt8] {
      let components = values.indices.map {
        TestJPEG.Component(id: values.count == 3 ? [82, 71, 66][$0] : UInt8($0 + 1))
      }
      return TestJPEG(width: 40, height: 30, components: components, segments: segments) { component, _, _ in
        values[component]
      }.bytes()
    }
    // A sample of 255 is no ink.
    let inks = try Self.make(flat([0, 204, 255, 153], []), "20").placeholder
    #expect(isClose(Self.values(inks.meanColor), [0, 122, 153], within: 2))
    let profile = TestProfile.wide()
    let tagged = flat([60, 180, 90], TestProfile.segments(profile))
    let converted = TestProfile.toSRGB(profile, [60, 180, 90])
    #expect(isClose(Self.values(try Self.make(tagged, "20").placeholder.meanColor), converted, within: 3))
    // The samples of a kept profile count as sRGB.
    let kept = try Self.make(tagged, "20") { $0.keep = .icc }.placeholder
    #expect(isClose(Self.values(kept.meanColor), [60, 180, 90], within: 2))
  }

  /// The small picture beside one whose cells are summed pixel by pixel in floating point.
  @Test(arguments: [(250, 190), (101, 333), (640, 7), (100, 99), (1, 500)], [false, true])
  func everyPixelOfTheSmallPictureIsAMean(_ size: (Int, Int), _ isHalf: Bool) throws {
    let pixels = PixelSize(width: size.0, height: size.1)
    let sides = (0..<3).map { index in
      index > 0 && isHalf ? ((pixels.width + 1) / 2, (pixels.height + 1) / 2) : (pixels.width, pixels.height)
    }
    let buffers = sides.map { _ in PlaneBuffer() }
    let planes = try zip(buffers, sides).enumerated().map { index, pair in
      let plane = try pair.0.plane(columns: pair.1.0, rows: pair.1.1)
      for y in 0..<plane.rows {
        for x in 0..<plane.columns { plane.row(y)[x] = UInt8(100 + ((x * 7 + y * 13) * (index + 3)) % 40) }
      }
      return plane
    }
    let small = try SmallPicture(
      reducing: RenderedPicture(ycc: planes, pixels, halvesChroma: isHalf), with: Resampler(), proceed: {})
    #expect(small.size == SmallPicture.size(for: pixels))
    let wrong = withExtendedLifetime(buffers) {
      (0..<small.size.count).filter { pixel in
        let means = planes.enumerated().map { index, plane in
          Self.mean(
            plane, pixel % small.size.width, pixel / small.size.width, of: small.size, pixels,
            half: index > 0 && isHalf)
        }
        let (red, green, blue) = YCbCr.jpeg.rgb(means[0], means[1], means[2])
        let made = small.samples[3 * pixel..<3 * pixel + 3].map(Int.init)
        return !isClose(made, [red, green, blue].map(Int.init), within: 2)
      }
    }
    #expect(wrong.isEmpty, "\(wrong.count) of \(small.size.count)")
  }

  /// The mean of a plane's samples in one cell of a grid.
  private static func mean(
    _ plane: PlaneView, _ x: Int, _ y: Int, of grid: PixelSize, _ pixels: PixelSize, half: Bool
  ) -> UInt8 {
    let scale = half ? 0.5 : 1
    let step = (Double(pixels.width) * scale / Double(grid.width), Double(pixels.height) * scale / Double(grid.height))
    func share(_ sample: Int, _ cell: Int, _ step: Double) -> Double {
      max(min(Double(sample + 1), Double(cell + 1) * step) - max(Double(sample), Double(cell) * step), 0) / step
    }
    var sum = 0.0
    for row in 0..<plane.rows where share(row, y, step.1) > 0 {
      for column in 0..<plane.columns where share(column, x, step.0) > 0 {
        sum += Double(plane.row(row)[column]) * share(row, y, step.1) * share(column, x, step.0)
      }
    }
    return UInt8(sum.rounded())
  }
}
