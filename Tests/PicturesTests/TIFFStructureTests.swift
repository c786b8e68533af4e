import Testing
import Thumbnails

@testable import Pictures

@Suite(.timeLimit(.minutes(2))) struct TIFFStructureTests {
  private func structure(_ file: [UInt8]) throws -> TIFFStructure {
    let blocks = FileBlocks(try FileWindow(ByteReader(bytes: file)))
    return try #require(try TIFFStructure(file: blocks, at: 0))
  }

  private func directory(_ tiff: TestTIFF) throws -> TIFFDirectory {
    let structure = try structure(tiff.file())
    return try #require(try structure.directory(at: structure.firstDirectory))
  }

  /// Types and values, and what is read.
  static let values: [(type: Int, values: [UInt64], read: [UInt64])] = [
    (1, [7, 250], [7, 250]), (3, [40_000], [40_000]), (3, [1, 2, 3, 4, 5], [1, 2, 3, 4, 5]),
    (4, [4_000_000_000], [4_000_000_000]),
    (4, [1, 2], [1, 2]), (13, [99], [99]), (16, [1 << 40, 3], [1 << 40, 3]), (9, [5], [5]), (8, [65_535], []),
    (9, [0xFFFF_FFFF], []), (6, [128], []), (7, [1], []), (5, [1], []),
  ]

  @Test(arguments: values.indices, [false, true]) func integersOfEachTypeAreRead(_ index: Int, _ isBigEndian: Bool)
    throws
  {
    let (type, values, read) = Self.values[index]
    for isBig in [false, true] {
      let page = TestTIFF.Directory([(0x0100, .numbers(type: type, values)), (0x0101, .short(9))])
      let directory = try directory(TestTIFF([page], isBigEndian: isBigEndian, isBig: isBig))
      #expect(try directory.integers(.imageWidth, atMost: 100) == read)
      #expect(try directory.integer(.imageWidth) == read.first)
      #expect(try directory.integer(.imageLength) == 9)
    }
  }

  @Test func ofEqualTagsTheFirstCounts() throws {
    #expect(try directory(TestTIFF([.init([(0x0100, .short(3)), (0x0100, .short(4))])])).integer(.imageWidth) == 3)
  }

  @Test(arguments: [
    // No magic, an unknown one, BigTIFF with offsets of another size, and with an offset at the end of the numbers.
    Array("II".utf8), Array("II+\0".utf8) + [4, 0, 0, 0] + [UInt8](repeating: 0, count: 8),
    Array("MM\0+\0\u{8}\0\0".utf8),
    Array("IX*\0".utf8) + [8, 0, 0, 0],
  ]) func whatIsNoHeaderIsNone(_ file: [UInt8]) throws {
    #expect(try TIFFStructure(file: FileBlocks(FileWindow(ByteReader(bytes: file))), at: 0) == nil)
  }

  @Test(arguments: [.max, .max - 7, .max - 8, 1 << 63, 1 << 62, 2, 15] as [UInt64])
  func offsetsNearTheEndOfTheNumbersAreOutside(_ offset: UInt64) throws {
    let number = { (value: UInt64) in (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
    var file = Array("II+\0".utf8) + [8, 0, 0, 0] + number(offset)
    #expect(throws: ThumbnailError.self) { try tiffHeader(file) }
    // The same in the pointer to the next directory, in a value, and in a count.
    let tag = { (tag: UInt8, type: UInt8, count: UInt64, value: UInt64) in
      [tag, 1, type, 0] + number(count) + number(value)
    }
    let size = tag(0, 4, 1, 70) + tag(1, 4, 1, 50) + tag(6, 3, 1, 1)
    let more = tag(0x4A, 16, 1, offset) + tag(0x4A, 16, 2, offset) + tag(0x11, 4, offset, offset)
    file = Array("II+\0".utf8) + [8, 0, 0, 0] + number(16) + number(6) + size + more + number(offset)
    #expect(try tiffHeader(file).pixels == PixelSize(width: 70, height: 50))
  }

  @Test func anOffsetBeyondTheNumbersIsNoPlace() throws {
    let blocks = FileBlocks(try FileWindow(ByteReader(bytes: [UInt8](repeating: 0, count: 1000))))
    let structure = TIFFStructure(file: blocks, base: 100, order: .littleEndian)
    #expect([0, 899, 900, .max - 100, .max - 50, .max].map(structure.place) == [100, 999, nil, nil, nil, nil])
  }

  @Test func aValueThatEndsAfterTheFileIsNone() throws {
    let profile: (UInt64) -> [UInt8] = { count in
      TestTIFF([.page(70, 50, [(0x8773, .numbers(type: 4, [count, 0]))])]).file()
    }
    var file = profile(0)
    // The count of the profile's values is right before their offset.
    let entry = try #require(file.indices.dropLast(3).first { Array(file[$0..<$0 + 4]) == [0x73, 0x87, 4, 0] })
    for (count, isInside) in [(2, true), (3, false), (0xFF, false)] as [(UInt8, Bool)] {
      file[entry + 4] = count
      #expect((try tiffHeader(file).color != .unknown) == isInside)
    }
  }

  @Test func directoriesThatReferToEachOtherEnd() throws {
    var bytes = TestTIFF([.page(70, 50), .page(70, 50), .page(70, 50)]).file()
    // The last directory's next is the first one.
    bytes.replaceSubrange(bytes.count - 4 - 3..<bytes.count - 3, with: [8, 0, 0, 0])
    let counter = CountingReader(bytes)
    #expect(try TIFFHeader.read(counter.window).remarks == ["only the first of several pages is shown"])
    #expect(counter.reads <= 12)
    // A directory inside itself.
    let page = TestTIFF.Directory.page(70, 50, [(0x014A, .numbers(type: 4, [8, 8, 8, 8]))])
    #expect(try TIFFPages(structure(TestTIFF([page]).file())).all.count == 1)
  }

  @Test func directoriesInsideEachOtherAreReadToALimit() throws {
    var page = TestTIFF.Directory.page(70, 50)
    for _ in 0..<300 { page = .page(70, 50, [(0x014A, .directories([page]))]) }
    #expect(try TIFFPages(structure(TestTIFF([page]).file())).all.count == 3)
    // Directories that each have many.
    let leaf = TestTIFF.Directory.page(70, 50)
    let branch = TestTIFF.Directory.page(
      70, 50, [(0x014A, .directories([TestTIFF.Directory](repeating: leaf, count: 40)))])
    let trunk = TestTIFF.Directory.page(
      70, 50, [(0x014A, .directories([TestTIFF.Directory](repeating: branch, count: 40)))])
    let counter = CountingReader(TestTIFF([TestTIFF.Directory](repeating: trunk, count: 20)).file())
    let blocks = FileBlocks(try counter.window)
    let pages = try TIFFPages(try #require(try TIFFStructure(file: blocks, at: 0)))
    #expect(pages.all.count <= 33)
    #expect(counter.reads <= 64)
  }

  @Test(arguments: [4097, 65_535, 100_000]) func aDirectoryWithVeryManyEntriesIsDamaged(_ count: Int) throws {
    let page = TestTIFF.Directory((0..<count).map { ($0 & 0xFFFF, .short(1)) })
    let counter = CountingReader(TestTIFF([page], isBig: true).file())
    #expect(throws: ThumbnailError.damaged("its image file directory cannot be read")) {
      try TIFFHeader.read(counter.window)
    }
    #expect(counter.bytes <= 64 << 10)
  }

  @Test func aCountOfValuesBeyondTheFileIsNotRead() throws {
    let page = TestTIFF.Directory([(0x0100, .numbers(type: 3, [UInt64](repeating: 7, count: 50_000)))])
    let counter = CountingReader(TestTIFF([page]).file())
    let structure = try #require(try TIFFStructure(file: FileBlocks(try counter.window), at: 0))
    let directory = try #require(try structure.directory(at: 8))
    #expect(try directory.integers(.imageWidth, atMost: 3) == [7, 7, 7])
    #expect(counter.bytes <= 32 << 10)
  }

  @Test func theNumberOfReadsHasALimit() throws {
    let counter = CountingReader([UInt8](repeating: 1, count: 2_000_000))
    let blocks = FileBlocks(try counter.window, mostBlocks: 5)
    let found = try (0..<20).map { try blocks.bytes(at: UInt64($0) * 90_000, count: 10) != nil }
    #expect(found == (0..<20).map { $0 < 5 })
    #expect(counter.reads == 5)
    // What was read is kept.
    #expect(try blocks.bytes(at: 90_000, count: 10) != nil)
    #expect(try blocks.bytes(at: 1, count: FileBlocks.longestRequest + 1) == nil)
  }

  @Test func whatCannotBeReadIsAnErrorOfItsOwn() throws {
    let reader = ByteReader(size: 1000) { _, _ in .failure(ByteReader.ReadError(rawValue: 5)) }
    #expect(throws: ThumbnailError.unreadable(5)) { try TIFFHeader.read(FileWindow(reader)) }
  }

  @Test(arguments: TestCamera.kinds) func noChangeOfAFewBytesMakesTheReadersTrap(_ kind: String) throws {
    var camera = TestCamera()
    camera.gap = 10
    camera.full = (96, 64)
    camera.medium = (48, 32)
    let good = camera.file(kind)
    var random = TestRandom(state: 42)
    for _ in 0..<600 {
      var file = good
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        // Mostly where the directories are.
        let place = Int.random(in: 0..<Int.random(in: 64...file.count, using: &random), using: &random)
        file[place] =
          [0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &random)].randomElement(using: &random) ?? 0
      }
      if Bool.random(using: &random) { file = Array(file.prefix(Int.random(in: 0...file.count, using: &random))) }
      let counter = CountingReader(file)
      _ = try? RawFileTests.read(counter.window, file)
      #expect(counter.reads <= 64)
    }
  }
}

/// Pseudorandom numbers, the same in each run: xorshift64.
struct TestRandom: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state
  }
}
