import Files
import Testing

@Suite struct ByteCountTests {
  @Test(arguments: [
    (0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (100 << 20, "100 MiB"), (357_892_096, "341.3 MiB"),
    (8 << 30, "8 GiB"), (3 << 50, "3072 TiB"),
  ])
  func aLimitIsShownInTheLargestUnitThatFits(bytes: Int, text: String) { #expect(ByteCount.limit(bytes) == text) }

  @Test(arguments: [
    (0, "0 MiB"), (400_000, "0.4 MiB"), (60_293_120, "57.5 MiB"), (256 << 20, "256 MiB"), (357_892_096, "341 MiB"),
    (1536 << 20, "1.5 GiB"), (1 << 40, "1 TiB"),
  ])
  func memoryHasOneDecimalBelowOneHundred(bytes: Int, text: String) { #expect(ByteCount.memory(bytes) == text) }

  @Test func aPartShowsItsUnitOnlyIfItDiffersFromThatOfTheWhole() {
    #expect(ByteCount.memory(40 << 20, of: 256 << 20) == "40 of 256 MiB")
    #expect(ByteCount.memory(512 << 20, of: 2 << 30) == "512 MiB of 2 GiB")
  }

  @Test(arguments: [(77_000_000, "73 MiB"), (999 << 20, "999 MiB"), (1 << 30, "1.0 GiB"), (3_000_000_000, "2.8 GiB")])
  func sampledMemoryIsShownInWholeMebibytes(bytes: Int, text: String) { #expect(ByteCount.whole(bytes) == text) }

  @Test(arguments: [
    (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (58_100_000, "58.1 MB"), (123_456_789, "123 MB"),
    (5_000_000_000_000, "5000 GB"),
  ])
  func fileSizesHaveDecimalUnits(bytes: Int, text: String) { #expect(ByteCount.file(bytes) == text) }
}
