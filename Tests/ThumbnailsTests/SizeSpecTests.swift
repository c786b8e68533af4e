import Testing

@testable import Thumbnails

@Suite struct SizeSpecTests {
  private static let notAPosition =
    "is not a position, which is top, bottom, left, right, a corner such as top-left, attention, or a point such as 0.3,0.2"

  @Test func aSizeCanBeMadeWithoutAText() throws {
    #expect(try SizeSpec(width: 300, height: 200, mode: .fill, enlarges: true) == SizeSpec(parsing: "300x200^<"))
    #expect(try SizeSpec(width: nil, height: 200, name: "low") == SizeSpec(parsing: "low=x200"))
    #expect(try SizeSpec(width: 300, height: 200, mode: .exact) == SizeSpec(parsing: "300x200!>"))
    #expect(throws: SizeSpecError.self) { try SizeSpec(width: nil, height: nil) }
    #expect(throws: SizeSpecError.self) { try SizeSpec(width: 0, height: 5) }
    #expect(throws: SizeSpecError.self) { try SizeSpec(width: 70_000, height: 5) }
    #expect(throws: SizeSpecError.self) { try SizeSpec(width: 5, height: nil, mode: .fill) }
    #expect(throws: SizeSpecError.self) { try SizeSpec(width: 5, height: 5, name: "a/b") }
  }

  @Test(arguments: [
    ("256", 4000, 3000, 256, 192), ("256", 3000, 4000, 192, 256), ("256x256", 4000, 3000, 256, 192),
    ("300x200", 4000, 3000, 267, 200), ("300x", 4000, 3000, 300, 225), ("x200", 4000, 3000, 267, 200),
    ("256", 100, 50, 100, 50), ("256<", 100, 50, 256, 128), ("256>", 100, 50, 100, 50),
    ("100^", 4000, 3000, 100, 100), ("300x100^", 400, 400, 300, 100), ("100^", 50, 40, 40, 40),
    ("256^", 1000, 100, 100, 100), ("100^<", 50, 40, 100, 100), ("100x50!", 4000, 3000, 100, 50),
    ("100x50!", 10, 10, 100, 50), ("100x50!>", 10, 400, 10, 50), ("1", 4000, 3000, 1, 1),
    ("256", 65_500, 1, 256, 1), ("256", 1, 65_500, 1, 256), ("x65500<", 10, 1, 65_500, 65_500),
    ("3x3", 4, 2, 3, 2), ("256", 257, 255, 256, 254),
  ])
  func aSpecDeterminesTheSize(_ spec: String, _ width: Int, _ height: Int, _ outWidth: Int, _ outHeight: Int) throws {
    let placement = try SizeSpec(parsing: spec).placement(for: PixelSize(width: width, height: height))
    #expect(placement.pixels == PixelSize(width: outWidth, height: outHeight))
  }

  @Test func fillShowsTheMiddle() throws {
    let placement = try SizeSpec(parsing: "100x100^").placement(for: PixelSize(width: 400, height: 200))
    #expect(placement.region == PixelRect(x: 100, y: 0, width: 200, height: 200))
  }

  @Test(arguments: [
    ("100x100^top", 100, 0, 0, 0), ("100x100^bottom", 100, 0, 0, 150), ("100x100^left", 0, 0, 0, 75),
    ("100x100^right", 200, 0, 0, 75), ("100x100^top-left", 0, 0, 0, 0), ("100x100^bottom-right", 200, 0, 0, 150),
    ("100x100^0.3,0.2", 20, 0, 0, 0), ("100x100^0.55,0.6", 120, 0, 0, 100), ("100x100^1,1", 200, 0, 0, 150),
    ("100x100^top<", 100, 0, 0, 0), ("100x100<^right", 200, 0, 0, 75), ("100x100^center", 100, 0, 0, 75),
    ("100x100^attention", 100, 0, 0, 75),
  ])
  func aPositionStaysInView(_ text: String, _ x: Double, _ y: Double, _ highX: Double, _ highY: Double) throws {
    let spec = try SizeSpec(parsing: text)
    let wide = spec.placement(for: PixelSize(width: 400, height: 200))
    #expect(wide.region == PixelRect(x: x, y: y, width: 200, height: 200))
    let high = spec.placement(for: PixelSize(width: 100, height: 250))
    #expect(high.region == PixelRect(x: highX, y: highY, width: 100, height: 100))
    #expect(wide.seeksAttention == (text == "100x100^attention"))
  }

  @Test func fillCropsASmallPictureWithoutEnlarging() throws {
    let placement = try SizeSpec(parsing: "300x100^").placement(for: PixelSize(width: 60, height: 60))
    #expect(placement.pixels == PixelSize(width: 60, height: 20))
    #expect(placement.region == PixelRect(x: 0, y: 20, width: 60, height: 20))
  }

  @Test(arguments: [
    ("256", "256x256", "256x256"), ("300x200^", "300x200^", "300x200-fill"), ("x200", "x200", "x200"),
    ("300x<", "300x<", "300x-enlarged"), ("9x9!", "9x9!", "9x9-exact"), ("9x9>!", "9x9!>", "9x9-exact-limited"),
    ("small=128>", "small=128x128", "small"), ("big=12x9<^", "big=12x9^<", "big"),
    ("9x9^top", "9x9^top", "9x9-fill-top"), ("9x9<^0.5,0", "9x9^top<", "9x9-fill-top-enlarged"),
    ("9x9^centre", "9x9^", "9x9-fill"), ("9x9^.500,1.0", "9x9^bottom", "9x9-fill-bottom"),
    ("9x9^0.30,0.2001", "9x9^0.3,0.2001", "9x9-fill-0.3-0.2001"), ("face=9x9^0,0", "face=9x9^top-left", "face"),
    ("9x9^attention", "9x9^attention", "9x9-fill-attention"),
  ])
  func theDescriptionIsCompleteAndParsesAgain(_ text: String, _ description: String, _ name: String) throws {
    let spec = try SizeSpec(parsing: text)
    #expect(spec.description == description)
    #expect(spec.name == name)
    #expect(try SizeSpec(parsing: spec.description) == spec)
  }

  @Test(arguments: [
    ("", "there is no width or height"), ("x", "it is not WIDTHxHEIGHT"), ("256x256x1", "it is not WIDTHxHEIGHT"),
    ("0", "0 pixels is outside 1 to 65500"), ("65501", "65501 pixels is outside 1 to 65500"),
    ("99999999999999999999", "99999999999999999999 pixels is outside 1 to 65500"),
    ("12.5", "“12.5” is not a whole number of pixels"), ("-5", "“-5” is not a whole number of pixels"),
    ("2 0", "“2 0” is not a whole number of pixels"), ("٣٠٠", "“٣٠٠” is not a whole number of pixels"),
    ("300x^", "“^” needs width and height"), ("x300!", "“!” needs width and height"), ("256^^", "“^” is given twice"),
    ("256^!", "“^” crops and “!” stretches: use only one"),
    ("256<>", "“<” allows enlarging and “>” forbids it: use only one"), ("=256", "the name before “=” is empty"),
    ("../up=256", "a name cannot start with “.”"), ("a/b=256", "a name is letters, digits, “.”, “_” and “-”"),
    ("9x^top", "“^” needs width and height"), ("9x9!top", "“9!top” is not a whole number of pixels"),
    ("9x9^top^", "“^” is given twice"), ("9x9^top!", "“^” crops and “!” stretches: use only one"),
    ("9x9^topp", "“topp” \(notAPosition)"), ("9x9^Top", "“Top” \(notAPosition)"),
    ("9x9^-1,0", "“-1,0” \(notAPosition)"),
    ("9x9^0.3", "“0.3” is not a point, which is two fractions of the width and the height"),
    ("9x9^1,0,1", "“1,0,1” is not a point, which is two fractions of the width and the height"),
    ("9x9^30,20", "30 is outside 0 to 1"), ("9x9^0.5,1.001", "1.001 is outside 0 to 1"),
    ("9x9^0.5,", "“” is not a fraction from 0 to 1"), ("9x9^0.5,1.", "“1.” is not a fraction from 0 to 1"),
    ("9x9^0.12345,0", "“0.12345” has more than 4 decimals"),
    ("9x9^99999999999999999999,0", "“99999999999999999999” is not a fraction from 0 to 1"),
    ("-rf=256", "a name cannot start with “-”"), ("a=", "there is no width or height"),
  ])
  func invalidSizesAreRejectedWithAReasonAndAnExample(_ text: String, _ reason: String) throws {
    let error = try #require(throws: SizeSpecError.self) { try SizeSpec(parsing: text) }
    #expect(error.reason == reason)
    #expect(error.description == "size “\(text)”: \(reason); for example \(error.example)")
    if error.example.contains(" or ") || text == "a=" { return }
    #expect(throws: Never.self) { try SizeSpec(parsing: error.example) }
  }
}
