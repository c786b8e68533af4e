import Testing

@testable import Thumbnails

/// The hashes that other programs make of the same pictures.
///
/// The expected bytes are those of the Python package fast-thumbhash 1.0.0, which contains the program in Rust. For all
/// pictures whose hash does not depend on rounding errors, thumbhash 0.1.2, in Python, makes the same ones.
@Suite struct ThumbHashTests {
  /// The pictures, by formulas of whole numbers, so that every language makes the same ones.
  enum Formula: Sendable {
    case photo, gradient, noise, grey, flat

    func rgb(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> [Int] {
      switch self {
      case .photo:
        let (u, v) = (x * 256 / width, y * 256 / height)
        let grain = (x * 7919 + y * 104_729) % 31
        if (u - 190) * (u - 190) + (v - 60) * (v - 60) < 900 { return [250, 235, 170] }
        if v < 110 + (u - 90) * (u - 90) / 400 { return [90 + v / 2, 140 + v / 3, 230 - v / 4] }
        return [60 + u / 5 + grain, 110 - v / 6 + grain, 40 + v / 8]
      case .gradient:
        let (across, down) = (max(width - 1, 1), max(height - 1, 1))
        let most = (width - 1) * (width - 1) + 3 * (height - 1) * (height - 1)
        return [x * 255 / across, (x * x + 3 * y * y) * 255 / max(most, 1), 255 - y * 200 / down]
      case .noise:
        return [
          (x * 37 + y * 91 + x * y * 13) % 256, (x * 53 + y * 29 + x * y * 7) % 256,
          (x * 11 + y * 71 + x * y * 17) % 256,
        ]
      case .grey: return [Int](repeating: (x * x * 2 + y * y * 5 + x * y) % 251, count: 3)
      case .flat: return [161, 178, 195]
      }
    }

    func picture(_ width: Int, _ height: Int) -> SmallPicture {
      let samples = (0..<height).flatMap { y in (0..<width).flatMap { x in rgb(x, y, width, height).map { UInt8($0) } }
      }
      return SmallPicture(size: PixelSize(width: width, height: height), samples: samples)
    }
  }

  private static func hex(_ bytes: [UInt8]) -> String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  @Test(
    arguments: [
      (.photo, 100, 75, "a0e70d45888678888f878787875787777770550788"),
      (.photo, 60, 100, "9fe70d440886f8787878757887887670550788"),
      (.photo, 64, 64, "a0e70d47088678888f878787875787778788680757758008"),
      (.photo, 100, 50, "a0e70d44888678888f87878787757770550788"),
      (.photo, 100, 7, "61d70d49868678888f8747787670560788"),
      // 4.5 frequencies along the shorter side are 5. thumbhash in Python rounds halves to the even number and has 4.
      (.photo, 14, 9, "60d70d4d869678788f878786774888787670450789"),
      (.gradient, 90, 31, "5e561262868087877a888878807008f268"),
      (.gradient, 33, 77, "5e560a831880869877877887848008f767"),
      (.noise, 40, 40, "1ff80107025996667877785b6857697575a047e0f7d1c60f"),
      (.grey, 50, 70, "1f080205002496a982246544444706860000000000"),
    ] as [(Formula, Int, Int, String)])
  func theHashIsThatOfOtherPrograms(_ formula: Formula, _ width: Int, _ height: Int, _ expected: String) {
    #expect(Self.hex(ThumbHash.bytes(of: formula.picture(width, height))) == expected)
  }

  /// In these pictures some frequencies have an amplitude of 0, between steps 7 and 8, of which other programs write
  /// either.
  @Test(
    arguments: [
      (.noise, 3, 5, "1a080e2c086327960878759a89670649fcc449"),
      (.noise, 2, 1, "84f8092484820d7d877878d028888287d088f7"),
      (.gradient, 100, 1, "66534e29958687878788087985887f7508"),
      (.gradient, 1, 100, "945429e12a07878878878887f88388cf68"),
      (.flat, 1, 1, "2cd759370807f807878887808f8088f80787808ff8f8870f"),
    ] as [(Formula, Int, Int, String)])
  func anAmplitudeOfZeroIsAlwaysRoundedUp(_ formula: Formula, _ width: Int, _ height: Int, _ expected: String) {
    let made = Self.hex(ThumbHash.bytes(of: formula.picture(width, height)))
    #expect(made.count == expected.count && made.prefix(10) == expected.prefix(10))
    for (mine, theirs) in zip(made, expected) { #expect(mine == theirs || mine == "8" && theirs == "7", "\(made)") }
  }

  /// Other programs write amplitudes of a flat channel that are rounding errors divided by rounding errors. The scale,
  /// which they are multiplied with, is 0.
  @Test func aFlatPictureHasNoAmplitudes() {
    let made = Self.hex(ThumbHash.bytes(of: Formula.flat.picture(80, 60)))
    #expect(made.hasPrefix("2cd7010580"))
    #expect(made.dropFirst(10).allSatisfy { $0 == "0" })
  }

  /// The decoder of these tests draws what fast-thumbhash does, which makes 32 × 23 pixels of this hash.
  @Test func decodersShowTheSame() {
    let decoded = DecodedThumbHash(ThumbHash.bytes(of: Formula.photo.picture(100, 75)))
    #expect(decoded.mean.map { Int($0.rounded()) } == [119, 132, 138])
    let expected = [
      (0, 0, [79, 142, 246]), (31, 0, [84, 126, 219]), (0, 22, [101, 89, 59]), (16, 11, [120, 132, 106]),
      (31, 22, [130, 86, 72]),
    ]
    for (x, y, color) in expected {
      let shown = decoded.rgb((Double(x) + 0.5) / 32, (Double(y) + 0.5) / 23)
      #expect(isClose(shown.map { Int($0.rounded()) }, color, within: 1), "\(shown) for \(color)")
    }
  }

  @Test func everySizeHasAHash() {
    for width in 1...20 {
      for height in 1...20 {
        let hash = ThumbHash.bytes(of: Formula.photo.picture(width * 5, height * 5))
        #expect((17...24).contains(hash.count))
        let decoded = DecodedThumbHash(hash)
        #expect(decoded.isLandscape == (width > height))
        let (across, down) = (Double(decoded.frequencies.across), Double(decoded.frequencies.down))
        // One side has 7 frequencies, the other as many as the proportions leave, rounded.
        let ratio = Double(min(width, height)) / Double(max(width, height))
        #expect(max(across, down) == 7 && abs(min(across, down) - 7 * ratio) <= 0.5001 || ratio < 1 / 14)
      }
    }
  }

  @Test func aSmallPictureKeepsTheProportions() {
    func size(_ width: Int, _ height: Int) -> String {
      SmallPicture.size(for: PixelSize(width: width, height: height)).description
    }
    #expect(size(100, 100) == "100 × 100" && size(8, 7) == "8 × 7")
    #expect(size(101, 99) == "100 × 98" && size(256, 192) == "100 × 75" && size(192, 256) == "75 × 100")
    #expect(size(65_500, 65_500) == "100 × 100")
    // Tiny sides are repeated, so that they have a pixel for each frequency.
    #expect(size(1, 1) == "7 × 7" && size(2, 1) == "14 × 7" && size(5, 6) == "10 × 12" && size(20, 2) == "80 × 8")
    #expect(size(3, 100) == "3 × 100" && size(1, 100) == "3 × 100" && size(30, 1) == "90 × 3")
    #expect(size(65_500, 9) == "100 × 3" && size(9, 65_500) == "3 × 100")
  }
}
