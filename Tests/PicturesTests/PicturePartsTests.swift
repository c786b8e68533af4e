import TestSupport
import Testing
import Thumbnails

@testable import Pictures

/// Which parts of a file are needed: enough for the same thumbnails, and not much more.
@Suite(.timeLimit(.minutes(2)))
struct PicturePartsTests {
  private static func options(_ size: String = "128", _ change: (inout ThumbnailOptions) -> Void = { _ in }) throws
    -> ThumbnailOptions
  {
    var options = ThumbnailOptions(sizes: [try SizeSpec(parsing: size)])
    change(&options)
    return options
  }

  /// What is fetched of a file until nothing is missing, in at most so many steps; nil if all of it is.
  private static func gathered(
    _ file: [UInt8], _ type: ImageType, _ options: [ThumbnailOptions], isNamedRaw: Bool = true,
    beginning: Int = 64 << 10
  ) throws -> (held: RangeSet<Int>, steps: Int)? {
    var held = RangeSet(0..<min(beginning, file.count))
    // What is not there is neither zero nor right.
    var there = file.prefix(beginning) + [UInt8](repeating: 0xFF, count: max(0, file.count - beginning))
    for step in 0... {
      let bytes = ByteReader(bytes: Array(there))
      guard
        let missing = PictureParts.missing(
          of: type, in: bytes, held: held, size: file.count, isNamedRaw: isNamedRaw, for: options)
      else { return nil }
      try #require(step < 60, "it never ends")
      if missing.isEmpty { return (held, step) }
      try #require(missing.intersection(held).isEmpty && RangeSet(0..<file.count).isSuperset(of: missing))
      held.formUnion(missing)
      for range in missing.ranges { there.replaceSubrange(range, with: file[range]) }
    }
    return nil
  }

  /// How the thumbnails are made of a file, or why they cannot be.
  private static func plan(_ source: ByteReader, _ type: ImageType, _ options: ThumbnailOptions) -> String {
    do {
      return "\(try PictureReader.readHeader(of: source, type: type).plan(for: options))"
    } catch {
      return "\(error)"
    }
  }

  /// Gathers the parts of a file, and compares what is made of them with what is made of the whole.
  @discardableResult
  private static func check(
    _ file: [UInt8], _ type: ImageType, _ options: ThumbnailOptions, _ name: String
  ) throws -> RangeSet<Int>? {
    guard let (held, _) = try gathered(file, type, [options]) else { return nil }
    let parts = PartialBytes(ByteReader(bytes: file), held: held)
    let reader = parts.reader(size: file.count)
    #expect(plan(reader, type, options) == plan(ByteReader(bytes: file), type, options), "\(name)")
    #expect(parts.missed.isEmpty, "\(name)")
    if case .jpeg(let extent, _) = try? PictureReader.readHeader(of: reader, type: type).plan(for: options) {
      #expect(parts.has(Int(extent.offset)..<Int(extent.offset + extent.size)), "\(name)")
    }
    return held
  }

  @Test(arguments: TestCamera.kinds)
  func aRawFileNeedsItsHeadersAndOnePreview(kind: String) throws {
    var camera = TestCamera()
    camera.gap = 300_000
    let file = camera.file(kind)
    let type = try #require(ImageType.sniff(file))
    let held = try #require(try Self.check(file, type, Self.options(), kind))
    let count = held.ranges.reduce(0) { $0 + $1.count }
    #expect(count < 64 << 10 + 200_000 && count < file.count / 2, "\(kind): \(count) of \(file.count)")
  }

  @Test func severalOutputsNeedThePartsOfAll() throws {
    var camera = TestCamera()
    camera.gap = 300_000
    let file = camera.file("DNG")
    let both = try #require(try Self.gathered(file, .tiff, [Self.options("64"), Self.options("800")])).held
    for size in ["64", "800"] {
      let one = try #require(try Self.gathered(file, .tiff, [Self.options(size)])).held
      #expect(both.isSuperset(of: one))
    }
    #expect(try Self.gathered(file, .tiff, [Self.options { $0.failOn = .warning }]) == nil)
    #expect(try Self.gathered(file, .tiff, [Self.options("64"), Self.options { $0.failOn = .warning }]) == nil)
  }

  @Test func aPictureThatIsNoRawFileIsNeededWhole() throws {
    let picture = TestTIFF([.page(64, 64, strip: [UInt8](repeating: 1, count: 64 * 64 * 3))]).file()
    #expect(try Self.gathered(picture, .tiff, [Self.options()]) == nil)
    // A directory that has not arrived is asked for only if the name is that of a RAW file.
    var camera = TestCamera()
    camera.gap = 300_000
    #expect(try Self.gathered(camera.file("NEF"), .tiff, [Self.options()], isNamedRaw: false) == nil)
    #expect(try Self.gathered(camera.file("NEF"), .tiff, [Self.options()]) != nil)
    for type in [ImageType.jpeg, .png, .gif, .webp, .jxl] {
      #expect(try Self.gathered([UInt8](repeating: 0, count: 500), type, [Self.options()]) == nil)
    }
  }

  /// A HEIC file with tags, a profile, and a thumbnail far from its beginning.
  private static func heic(gap: Int) -> (bytes: [UInt8], primary: Int) {
    var file = TestHEIF()
    let profile = TestHEIF.box("colr", Array("prof".utf8) + [UInt8](repeating: 7, count: 500))
    let tiles = (0..<4).map { _ in file.add(.hevcColors) }
    let grid = file.add(
      TestHEIF.Item(
        type: "grid", data: TestHEIF.grid(rows: 2, columns: 2, 128, 128),
        properties: [TestHEIF.size(128, 128), profile],
        isInItemData: true))
    file.refer("dimg", from: grid, to: tiles)
    _ = file.add(TestHEIF.Item(type: "mime", data: [UInt8](repeating: 0x11, count: gap)))
    let exif = file.add(TestHEIF.Item(type: "Exif", data: [0, 0, 0, 0] + Array("II*\0".utf8) + [8, 0, 0, 0, 0, 0]))
    file.refer("cdsc", from: exif, to: [grid])
    _ = file.add(TestHEIF.Item(type: "mime", data: [UInt8](repeating: 0x12, count: gap)))
    let thumbnail = file.add(.hevcColors, [profile])
    file.refer("thmb", from: thumbnail, to: [grid])
    file.primary = grid
    return (file.bytes, grid)
  }

  @Test(arguments: ["16", "100"])
  func aHEICFileNeedsTheItemThatIsDecoded(size: String) throws {
    let file = Self.heic(gap: 300_000).bytes
    let options = try Self.options(size) { $0.keep = [.exif] }
    let held = try #require(try Self.check(file, .heic, options, size))
    // The thumbnail is the last item.
    #expect(held.contains(file.count - 1) == (size == "16"))
    #expect(held.ranges.reduce(0) { $0 + $1.count } < 150_000)
  }

  @Test func aFileWhoseItemsAreMostOfItNeedsThem() throws {
    let file = Self.heic(gap: 10).bytes
    #expect(try Self.check(file, .heic, Self.options("100"), "small") != nil)
  }

  // MARK: Hostile files

  /// Directories that refer to each other, or to themselves, and to the end of the file.
  @Test func endlessChainsEnd() throws {
    let tiff = TestTIFF([])
    let entry = { (tag: Int, type: Int, count: Int, value: Int) in
      tiff.number(tag, 2) + tiff.number(type, 2) + tiff.number(count, 4) + tiff.number(value, 4)
    }
    let size = 3_000_000
    var file = [UInt8](repeating: 0, count: size)
    func put(_ bytes: [UInt8], at offset: Int) { file.replaceSubrange(offset..<offset + bytes.count, with: bytes) }
    put(Array("II*\0".utf8) + [8, 0, 0, 0], at: 0)
    let places = [8] + (1..<40).map { size - $0 * 70_000 }
    for (index, place) in places.enumerated() {
      let next = index + 1 < places.count ? places[index + 1] : 8
      put(
        tiff.number(2, 2) + entry(0x014A, 4, 1, size - 1 - index) + entry(0xC612, 1, 4, 1) + tiff.number(next, 4),
        at: place)
    }
    let found = try #require(try Self.gathered(file, .tiff, [Self.options()]))
    #expect(found.steps < 40)
    try Self.check(file, .tiff, Self.options(), "chain")
  }

  /// Whatever a header says, the parts end, lie in the file, and give what the whole file gives.
  @Test(arguments: ["NEF", "CR2", "DNG", "ORF", "RAF", "HEIC"])
  func damagedHeadersGiveWhatTheWholeFileGives(kind: String) throws {
    var camera = TestCamera()
    camera.gap = 90_000
    let file = kind == "HEIC" ? Self.heic(gap: 90_000).bytes : camera.file(kind)
    let type = try #require(ImageType.sniff(file))
    var random = SplitMix(seed: 7)
    for round in 0..<60 {
      var damaged = file
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        damaged[Int.random(in: 12..<600, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      try Self.check(damaged, type, Self.options("100"), "\(kind), round \(round)")
    }
  }
}
