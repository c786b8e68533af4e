import Testing
import Thumbnails

@testable import JobSettings

@Suite struct ValueTextTests {
  @Test(arguments: [
    ("90s", 90_000), ("5m", 300_000), ("1h30m", 5_400_000), ("250ms", 250), ("1d", 86_400_000), ("1m30s5ms", 90_005),
  ])
  func durationsAreNumbersWithUnits(text: String, milliseconds: Int) throws {
    #expect(try DurationText.parse(text, for: "--timeout") == .milliseconds(milliseconds))
  }

  @Test(arguments: ["", "5", "m", "5 m", "-5s", "30m1h", "5s5s", "1.5h", "5x", "99999999999999999999s", "٥s"])
  func textsThatAreNotDurationsAreRejected(text: String) {
    #expect(
      throws: TextError("--timeout: “\(text)” is not a duration; write 90s, 5m, 1h30m or 250ms")
    ) { try DurationText.parse(text, for: "--timeout") }
  }

  @Test(arguments: ["90s", "5m", "1h30m", "250ms", "1d", "366d", "1m30s5ms", "3599999ms"])
  func aDurationIsShownAsItCanBeWritten(text: String) throws {
    let duration = try DurationText.parse(text, for: "x")
    #expect(try DurationText.parse(DurationText.text(duration), for: "x") == duration)
  }

  @Test func amountsAreShownInTheLargestUnit() throws {
    #expect([300, 90].map { DurationText.text(.seconds($0)) } == ["5m", "1m30s"])
    #expect([1_000_000_000, 1_500_000, 250_000, 7].map(PixelCount.text) == ["1G", "1500k", "250k", "7"])
    #expect([512 << 20, 3 << 30, 1536 << 20, 1025].map(MemorySize.text) == ["512M", "3G", "1536M", "1025"])
    let sizes = try ["256", "64x32", "a=64", "9x9^"].map { try SizeSpec(parsing: $0).shortest }
    #expect(sizes == ["256", "64x32", "a=64x64", "9x9^"])
  }

  @Test func zeroAndMoreThanAYearAreRejected() {
    #expect(throws: TextError("--for: must be more than zero; the longest is 366d")) {
      try DurationText.parse("0s", for: "--for")
    }
    #expect(throws: TextError("--for: “400d” is more than a year, 366d")) {
      try DurationText.parse("400d", for: "--for")
    }
  }

  @Test func aHaltLimitIsACountOrAShare() throws {
    #expect(try HaltLimit(parsing: "10", for: "--halt") == .failures(10))
    #expect(try HaltLimit(parsing: "5%", for: "--halt") == .percent(5))
    #expect(try HaltLimit(parsing: "0.5%", for: "--halt").description == "0.5%")
    for text in ["0", "-1", "0%", "101%", "x", "", "%", "nan%"] {
      #expect(
        throws: TextError(
          "--halt: “\(text)” is neither a count of failures such as 10 nor a share of the sources such as 5%")
      ) { try HaltLimit(parsing: text, for: "--halt") }
    }
  }

  @Test func unitsOfPixelsAreDecimal() throws {
    #expect(try PixelCount.parse("500M", for: "x") == 500_000_000)
    #expect(try PixelCount.parse("1.5G", for: "x") == 1_500_000_000)
    #expect(try PixelCount.parse("250000", for: "x") == 250_000)
    for text in ["", "M", "0", "-1M", "1e9", "1T", "2000G", "nan", "1.2.3M"] {
      #expect(
        throws: TextError(
          "--limit-pixels: “\(text)” is not a number of pixels; write 500M or 1G (at most 1000G)")
      ) { try PixelCount.parse(text, for: "--limit-pixels") }
    }
  }
}
