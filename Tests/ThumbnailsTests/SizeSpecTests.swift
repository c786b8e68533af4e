import Testing

@testable import Thumbnails

@Suite struct SizeSpecTests {
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

  @Test func fillCropsASmallPictureWithoutEnlarging() throws {
    let placement = try SizeSpec(parsing: "300x100^").placement(for: PixelSize(width: 60, height: 60))
    #expect(placement.pixels == PixelSize(width: 60, height: 20))
    #expect(placement.region == PixelRect(x: 0, y: 20, width: 60, height: 20))
  }

  @Test(arguments: [
    ("256", "256x256", "256x256"), ("300x200^", "300x200^", "300x200-fill"), ("x200", "x200", "x200"),
    ("300x<", "300x<", "300x-enlarged"), ("9x9!", "9x9!", "9x9-exact"), ("9x9>!", "9x9!>", "9x9-exact-limited"),
    ("small=128>", "small=128x128", "small"), ("big=12x9<^", "big=12x9^<", "big"),
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
