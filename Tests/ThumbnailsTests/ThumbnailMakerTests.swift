import Foundation
import Testing

@testable import Thumbnails

@Suite(.timeLimit(.minutes(5))) struct ThumbnailMakerTests {
  private static func source(_ width: Int = 80, _ height: Int = 60) -> [UInt8] {
    TestJPEG.ycc(width, height, h: 2, v: 2, value: SamplingTests.slope(width, height)).bytes()
  }

  @Test func thumbnailsDoNotDependOnEarlierSources() throws {
    let options = ThumbnailOptions(sizes: [try SizeSpec(parsing: "30"), try SizeSpec(parsing: "20^")])
    let first = try thumbnails(of: Self.source(), options)
    let maker = ThumbnailMaker()
    let other = TestJPEG(
      width: 200, height: 90, components: (1...4).map { TestJPEG.Component(id: $0) },
      value: SamplingTests.slope(200, 90)
    ).bytes()
    for source in [other, Array(other.prefix(900)), TestJPEG.grey(9, 9) { _, _ in 3 }.bytes()] {
      _ = try? thumbnails(of: source, ThumbnailOptions(sizes: options.sizes, progressive: true), maker: maker)
      #expect(try thumbnails(of: Self.source(), options, maker: maker) == first)
    }
    maker.trim()
    #expect(try thumbnails(of: Self.source(), options, maker: maker) == first)
  }

  @Test(arguments: [false, true]) func renderingAheadGivesTheSameBytes(isLinear: Bool) throws {
    let options = ThumbnailOptions(
      sizes: [try SizeSpec(parsing: "30"), try SizeSpec(parsing: "20^")], linear: isLinear)
    let (maker, encoder) = (ThumbnailMaker(), ThumbnailMaker())
    let ahead = try [(80, 60), (33, 57), (64, 64)].map { width, height in
      (Self.source(width, height), try maker.render(ByteReader(bytes: Self.source(width, height)), options: options))
    }
    // All are held at once, so none may have overwritten another's samples.
    for (source, rendered) in ahead.reversed() {
      var made: [[UInt8]] = []
      try encoder.encode(rendered) { made.append(Array($0.bytes)) }
      #expect(try made == thumbnails(of: source, options))
    }
  }

  @Test func sizesAreDeliveredInTheOrderOfTheOptions() throws {
    let sizes = try ["40", "a=10", "20x20^", "10x30!"].map { try SizeSpec(parsing: $0) }
    var made: [(SizeSpec, PixelSize, Picture)] = []
    try ThumbnailMaker().makeThumbnails(
      of: ByteReader(bytes: Self.source()), options: ThumbnailOptions(sizes: sizes)
    ) { made.append(($0.size, $0.pixels, try Picture(Array($0.bytes)))) }
    #expect(made.map(\.0) == sizes)
    #expect(made.map(\.1.description) == ["40 × 30", "10 × 8", "20 × 20", "10 × 30"])
    #expect(made.allSatisfy { $0.1 == $0.2.pixels })
  }

  @Test func errorsOfDeliverAreRethrown() throws {
    struct DiskFull: Error {}
    let options = ThumbnailOptions(sizes: [try SizeSpec(parsing: "8"), try SizeSpec(parsing: "9")])
    var calls = 0
    #expect(throws: DiskFull.self) {
      try ThumbnailMaker().makeThumbnails(of: ByteReader(bytes: Self.source()), options: options) { _ in
        calls += 1
        throw DiskFull()
      }
    }
    #expect(calls == 1)
  }

  private final class Recorder: ThumbnailMonitor {
    var isCancelled: Bool {
      asked += 1
      return asked > limit
    }
    var asked = 0
    var limit = Int.max
    var stages: [ThumbnailStage] = []
    var fractions: [Double] = []
    func entered(_ stage: ThumbnailStage) { stages.append(stage) }
    func progressed(to fraction: Double) { fractions.append(fraction) }
  }

  @Test func theMonitorSeesEveryStageAndGrowingFractions() throws {
    let recorder = Recorder()
    let options = ThumbnailOptions(sizes: [try SizeSpec(parsing: "8"), try SizeSpec(parsing: "9")])
    try ThumbnailMaker().makeThumbnails(
      of: ByteReader(bytes: Self.source()), options: options, monitor: recorder
    ) { _ in }
    #expect(recorder.stages == [.reading, .decoding, .resizing, .encoding, .resizing, .encoding])
    #expect(recorder.fractions == recorder.fractions.sorted())
    #expect(recorder.fractions.last == 1)
  }

  @Test func aCancellationEndsTheWorkAnywhereAndTheMakerStaysUsable() throws {
    var options = ThumbnailOptions(sizes: [try SizeSpec(parsing: "8"), try SizeSpec(parsing: "9")])
    options.makesPlaceholder = true
    let progressive = try thumbnails(
      of: Self.source(), ThumbnailOptions(sizes: [try SizeSpec(parsing: "80")], progressive: true))[0]
    let maker = ThumbnailMaker()
    for source in [Self.source(), progressive] {
      for isLinear in [false, true] {
        options.linear = isLinear
        let full = Recorder()
        let expected = try thumbnails(of: source, options)
        try maker.makeThumbnails(of: ByteReader(bytes: source), options: options, monitor: full) { _ in }
        // The maker asks at least once for each of four rows of MCUs, and several times for each size.
        #expect(full.asked > 8)
        for limit in 0..<full.asked {
          let recorder = Recorder()
          recorder.limit = limit
          #expect(throws: ThumbnailError.cancelled) {
            try maker.makeThumbnails(of: ByteReader(bytes: source), options: options, monitor: recorder) { _ in }
          }
          #expect(recorder.asked <= limit + 2, "asked again after the cancellation")
        }
        #expect(try thumbnails(of: source, options, maker: maker) == expected)
      }
    }
  }

  @Test func aCancellationEndsEncoding() throws {
    final class Stopper: ThumbnailMonitor {
      var stage = ThumbnailStage.reading
      var asked = 0
      var isCancelled: Bool {
        if stage == .encoding { asked += 1 }
        return asked > 3
      }
      func entered(_ stage: ThumbnailStage) { self.stage = stage }
      func progressed(to fraction: Double) {}
    }
    let stopper = Stopper()
    let options = ThumbnailOptions(sizes: [try SizeSpec(parsing: "200x200!")])
    #expect(throws: ThumbnailError.cancelled) {
      try ThumbnailMaker().makeThumbnails(of: ByteReader(bytes: Self.source()), options: options, monitor: stopper) {
        _ in
        Issue.record("delivered")
      }
    }
    #expect(stopper.asked == 4)
  }

  /// libjpeg decodes subsampled chroma at a larger scale: to two by two samples for a block if luma has one.
  @Test func subsampledChromaIsCountedAtItsDecodingScale() throws {
    for (h, v, chroma) in [(1, 1, 1), (2, 2, 1), (2, 1, 1), (4, 1, 1), (2, 2, 2)] {
      let bytes = TestJPEG.ycc(640, 480, h: h, v: v, chromaH: chroma, chromaV: chroma) { _, _, _ in 90 }.bytes()
      let decoder = try JPEGDecoder(source: ByteReader(bytes: bytes), failOn: .error, monitor: nil)
      let info = SourceInfo(decoder)
      for scale in [1, 2, 4, 8] {
        let planes = try decoder.setScale(scale).reduce(0) { $0 + $1.min_stride * $1.min_rows }
        #expect(info.planeBytes(scale: scale) == planes, "\(h)x\(v) at 1/\(scale)")
      }
    }
  }

  @Test(arguments: [0, 3, 16, 1 << 20]) func aScaleThatLibjpegDoesNotHaveIsAFault(scale: Int) throws {
    let decoder = try JPEGDecoder(source: ByteReader(bytes: Self.source()), failOn: .error, monitor: nil)
    #expect(throws: ThumbnailError.internalFault("a scale that libjpeg does not have")) { try decoder.setScale(scale) }
  }

  @Test func aReadErrorIsReportedByItsNumber() throws {
    let bytes = Self.source()
    let options = ThumbnailOptions(sizes: [try SizeSpec(parsing: "8")])
    for failing in [0, 1] {
      var reads = 0
      let source = ByteReader(size: nil) { offset, buffer in
        defer { reads += 1 }
        if reads == failing { return .failure(.init(rawValue: EIO)) }
        return ByteReader(bytes: bytes).read(at: offset, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<64]))
      }
      #expect(throws: ThumbnailError.unreadable(EIO)) {
        try ThumbnailMaker().makeThumbnails(of: source, options: options) { _ in }
      }
    }
    #expect(ThumbnailError.unreadable(EIO).description == "cannot be read: Input/output error")
    #expect(throws: ThumbnailError.unreadable(EBADF)) {
      try ThumbnailMaker.readInfo(of: ByteReader(fileDescriptor: -1))
    }
  }

  @Test func readingOneByteAtATimeGivesTheSamePicture() throws {
    let bytes = Self.source()
    let options = ThumbnailOptions(sizes: [try SizeSpec(parsing: "8")])
    let whole = ByteReader(bytes: bytes)
    let slow = ByteReader(size: nil) { offset, buffer in
      whole.read(at: offset, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<1]))
    }
    var made: [UInt8] = []
    try ThumbnailMaker().makeThumbnails(of: slow, options: options) { made = Array($0.bytes) }
    #expect(try thumbnails(of: bytes, options) == [made])
  }

  @Test func readingAFileDoesNotMoveItsPosition() throws {
    let bytes = Self.source()
    let file = try #require(tmpfile())
    defer { fclose(file) }
    #expect(fwrite(bytes, 1, bytes.count, file) == bytes.count && fflush(file) == 0)
    let descriptor = fileno(file)
    let before = lseek(descriptor, 0, SEEK_CUR)
    let source = ByteReader(fileDescriptor: descriptor)
    #expect(source.size == bytes.count)
    let options = ThumbnailOptions(sizes: [try SizeSpec(parsing: "8")])
    var made: [UInt8] = []
    try ThumbnailMaker().makeThumbnails(of: source, options: options) { made = Array($0.bytes) }
    #expect(try thumbnails(of: bytes, options) == [made])
    #expect(lseek(descriptor, 0, SEEK_CUR) == before)
    // The file now shrinks while the source is open, so it ends early.
    #expect(ftruncate(descriptor, 700) == 0)
    #expect(throws: ThumbnailError.truncated("it is cut off after 700 bytes")) {
      try ThumbnailMaker().makeThumbnails(of: source, options: options) { _ in }
    }
  }

  @Test func theHeaderHasSizeAndOrientation() throws {
    var source = TestJPEG.ycc(30, 20, h: 2, v: 1) { _, _, _ in 90 }
    source.segments.append(TestExif(orientation: 8).segment)
    let info = try ThumbnailMaker.readInfo(of: ByteReader(bytes: source.bytes()))
    #expect(info.pixels.description == "30 × 20")
    #expect(info.orientedPixels.description == "20 × 30")
    #expect(info.orientation == .rotated270 && !info.isProgressive && !info.hasProfile)
  }

  @Test func memoryNeededGrowsWithTheDecodedSize() throws {
    let info = try ThumbnailMaker.readInfo(of: ByteReader(bytes: Self.source(1600, 1200)))
    let small = info.bytesNeeded(for: ThumbnailOptions(sizes: [try SizeSpec(parsing: "64")]))
    let large = info.bytesNeeded(for: ThumbnailOptions(sizes: [try SizeSpec(parsing: "1600")]))
    // At full size, a decoded 4:2:0 picture takes 1.5 bytes for each pixel.
    #expect(large > small + 1600 * 1200 * 3 / 2)
  }

  @Test func aThumbnailOverTheLimitIsRejected() throws {
    let options = ThumbnailOptions(sizes: [try SizeSpec(parsing: "500x500!")], limitPixels: 10_000)
    let error = try #require(throws: ThumbnailError.self) { try thumbnails(of: Self.source(), options) }
    #expect(error == .thumbnailTooLarge(PixelSize(width: 500, height: 500), limit: 10_000))
  }
}
