import TestSupport
import Testing

@testable import Thumbnails

// Files that are cut off, broken or irregular.
extension BlockDecoderTests {
  @Test func aFileCutOffAnywhereIsIrregular() throws {
    for bytes in Self.hostileSamples + [Self.progressive] {
      for side in [1, 2] {
        #expect(try Self.samples(ByteReader(bytes: bytes), side: side) != nil)
        for length in stride(from: 0, to: bytes.count, by: 7) {
          let cut = try? Self.samples(ByteReader(bytes: Array(bytes.prefix(length))), side: side)
          #expect(cut == nil, "cut at \(length) of \(bytes.count)")
        }
      }
    }
  }

  /// Either a fault is detected, or libjpeg does not detect it either and makes the same samples.
  @Test func brokenFilesGiveLibjpegsSamplesOrNone() throws {
    var random = SplitMix(seed: 77)
    var shown = 0
    for bytes in Self.hostileSamples {
      for _ in 0..<400 {
        var broken = bytes
        for _ in 0...Int(random.next() % 2) {
          broken[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
        }
        let source = ByteReader(bytes: broken)
        guard let made = (try? Self.dcSamples(source)) ?? nil else { continue }
        // At side 2 more is decoded, but it must not find a fault that side 1 does not find.
        #expect(try Self.samples(source, side: 2) != nil)
        shown += 1
        let expected = try Self.reference(broken)
        for case (let samples, let reference?) in zip(made, expected) { #expect(samples == reference) }
      }
    }
    #expect(shown > 80)
  }

  /// Faults in AC scans lead to the same picture each time, or to none.
  @Test func brokenACScansGiveTheSamePictureEachTimeOrNone() throws {
    var random = SplitMix(seed: 78)
    for _ in 0..<600 {
      var broken = Self.progressive
      for _ in 0...Int(random.next() % 3) {
        broken[Int(random.next() % UInt64(broken.count))] = UInt8(truncatingIfNeeded: random.next())
      }
      let source = ByteReader(bytes: broken)
      let first = try? Self.samples(source, side: 2)
      let second = try? Self.samples(source, side: 2)
      #expect(second == first)
    }
  }

  private static let progressive: [UInt8] = {
    var photo = SyntheticPhoto(seed: 3, width: 64, height: 48)
    (photo.quality, photo.isProgressive) = (60, true)
    return photo.jpeg()
  }()

  /// A baseline file with restarts, one with separate scans, a photo, and a file of DC scans alone.
  private static let hostileSamples: [[UInt8]] = {
    var baseline = TestJPEG.ycc(48, 40, h: 2, v: 2, value: SamplingTests.slope(48, 40))
    baseline.restartInterval = 2
    var separate = baseline
    separate.isInterleaved = false
    var photo = SyntheticPhoto(seed: 3, width: 64, height: 48)
    photo.quality = 60
    let scans: [DCFile.Scan] = [.init([0, 1, 2], 0, 1), .init([0, 1, 2], 1, 0)]
    return [baseline.bytes(), separate.bytes(), photo.jpeg(), DCFile(scans, h: 2, v: 2).bytes()]
  }()

  @Test func anIrregularFileFailsOnlyWithSparingDecoding() throws {
    let regular = SyntheticPhoto(seed: 1, width: 320, height: 240).jpeg()
    let open = ByteReader(bytes: Array(regular.dropLast(2)))
    let options = ThumbnailOptions(sizes: [try SizeSpec(parsing: "16")])
    let maker = ThumbnailMaker()
    #expect(throws: ThumbnailError.irregular()) {
      try maker.makeThumbnails(of: open, options: options, decoding: .sparing) { _ in }
    }
    var made = 0
    for decoding in [Decoding.automatic, .whole()] {
      try maker.makeThumbnails(of: open, options: options, decoding: decoding) { _ in made += 1 }
    }
    #expect(made == 2)
  }
}
