import Foundation
import TestSupport
import Testing

@testable import Thumbnails

/// Compares the block decoder with libjpeg: at scale 1/8 it makes exactly the same samples, or none.
@Suite(.timeLimit(.minutes(1))) struct BlockDecoderTests {
  /// A plane's samples, row by row.
  private struct Samples: Equatable {
    let columns: Int
    let rows: Int
    let values: [UInt8]

    init(_ plane: DecodedPlane) {
      columns = plane.view.columns
      rows = plane.view.rows
      values = (0..<rows).flatMap { row in (0..<plane.view.columns).map { plane.view.row(row)[$0] } }
    }
  }

  /// The samples at scale 1/8; nil if the source is irregular.
  private static func dcSamples(_ source: ByteReader) throws -> [Samples]? { try samples(source, side: 1) }

  private static func samples(_ source: ByteReader, side: Int) throws -> [Samples]? {
    let decoder = try JPEGDecoder(source: source, failOn: .error, monitor: nil)
    let info = SourceInfo(decoder)
    let buffer = PlaneBuffer()
    // An earlier picture may have left such contents.
    let old = try buffer.plane(columns: 1 << 16, rows: 1)
    for column in 0..<old.columns { old.base[column] = 0xA7 }
    guard BlockDecoder.supports(info) else { return nil }
    var blocks = BlockDecoder(decoder.input, header: info, side: side)
    do {
      let planes = try blocks.decode(into: buffer, masksIn: PlaneBuffer())
      return planes.map { Samples($0) }
    } catch {
      guard case .irregular = error else { throw error }
      return nil
    }
  }

  /// libjpeg's samples at scale 1/8; nil for planes that it decodes at a larger scale.
  private static func reference(_ bytes: [UInt8]) throws -> [Samples?] {
    let decoder = try JPEGDecoder(source: ByteReader(bytes: bytes), failOn: .error, monitor: nil)
    let workspace = DecodeWorkspace()
    let planes = try workspace.decode(decoder, 8, skippingFineScans: false)
    let header = SourceInfo(decoder)
    let hMax = header.sampling.map(\.h).max() ?? 1
    return zip(planes, header.sampling).map { plane, sampling in
      let blocks = (header.pixels.width + 8 * hMax - 1) / (8 * hMax) * sampling.h
      return plane.view.stride == blocks ? Samples(plane) : nil
    }
  }

  private static func expectSame(_ bytes: [UInt8], _ note: String) throws {
    let samples = try #require(try dcSamples(ByteReader(bytes: bytes)), "\(note)")
    var compared = 0
    for (index, (made, expected)) in zip(samples, try reference(bytes)).enumerated() {
      guard let expected else { continue }
      #expect(made == expected, "\(note), component \(index)")
      compared += 1
    }
    #expect(compared > 0, "\(note)")
  }

  @Test(arguments: 1...4, 1...4) func everySamplingGivesLibjpegsSamples(_ h: Int, _ v: Int) throws {
    guard h * v <= 8 else { return }
    for (width, height) in [(8, 8), (67, 41)] {
      for (interval, isInterleaved) in [(0, true), (1, true), (5, true), (0, false), (7, false)] {
        var source = TestJPEG.ycc(width, height, h: h, v: v) { component, x, y in
          let mixed: Int = Int(x) * 29 + Int(y) * 83 + component * 7
          return Double(mixed % 256)
        }
        (source.restartInterval, source.isInterleaved) = (interval, isInterleaved)
        try Self.expectSame(source.bytes(), "\(h)x\(v) \(width)x\(height), \(interval), \(isInterleaved)")
      }
    }
  }

  @Test func fourComponentsGiveLibjpegsSamples() throws {
    let components = (1...4).map { TestJPEG.Component(id: $0) }
    let inks = TestJPEG(
      width: 43, height: 29, components: components, segments: [TestJPEG.adobe(transform: 2)],
      value: SamplingTests.slope(43, 29))
    try Self.expectSame(inks.bytes(), "YCCK")
  }

  @Test func codesOfEveryLengthAreFound() throws {
    // There is one code of each length, up to 16 bits.
    let ladder = try #require(HuffmanCode(counts: [Int](repeating: 1, count: 16), symbols: (0..<16).map { UInt8($0) }))
    for length in 1...16 {
      let word = ~UInt64(0) << UInt64(64 - length + 1) & (~0 << UInt64(64 - length))
      let found = try #require(ladder.symbol(in: word))
      #expect(found == (length - 1, length))
    }
    #expect(ladder.symbol(in: ~0) == nil)
    let lookup = try #require(ladder.dcLookup())
    #expect(lookup[0] == 1 && lookup[0b11_1111_1110] == 10 | 9 << 8 && lookup[0b11_1111_1111] == 0)
    let empty = try #require(HuffmanCode(counts: [Int](repeating: 0, count: 16), symbols: []))
    #expect(empty.symbol(in: 0) == nil && empty.acLookup().allSatisfy { $0 == 0 })
    // There may not be more codes than fit, or a code that consists only of ones.
    #expect(HuffmanCode(counts: [3] + [Int](repeating: 0, count: 15), symbols: [1, 2, 3]) == nil)
    #expect(HuffmanCode(counts: [2] + [Int](repeating: 0, count: 15), symbols: [1, 2]) == nil)
    // The size is too large for a DC difference.
    #expect(HuffmanCode(counts: [1] + [Int](repeating: 0, count: 15), symbols: [16])?.dcLookup() == nil)
  }

  /// Baseline and progressive files with optimised codes, large enough that the reader's windows end at any place.
  @Test(arguments: [3, 30, 75, 100], [false, true]) func everyQualityGivesLibjpegsSamples(
    _ quality: Int, _ isProgressive: Bool
  ) throws {
    for (hasFullChroma, isGrey) in [(false, false), (true, false), (false, true)] {
      var photo = SyntheticPhoto(seed: quality, width: 503, height: 301)
      (photo.quality, photo.isProgressive) = (quality, isProgressive)
      (photo.hasFullChroma, photo.isGrey) = (hasFullChroma, isGrey)
      try Self.expectSame(photo.jpeg(), "quality \(quality), progressive \(isProgressive), grey \(isGrey)")
    }
  }

  /// Compares the four lowest frequencies of each block with those of all of its samples, transformed.
  @Test(arguments: [(1, 1), (2, 1), (2, 2)]) func quarterScaleShowsTheLowestFrequencies(_ h: Int, _ v: Int) throws {
    var source = TestJPEG.ycc(67, 41, h: h, v: v) { component, x, y in
      128 + 50 * sin(x / 9 + Double(component)) + 40 * cos(y / 7) + 20 * sin((x + y) / 3)
    }
    for (interval, isInterleaved) in [(0, true), (3, true), (0, false)] {
      (source.restartInterval, source.isInterleaved) = (interval, isInterleaved)
      let made = try #require(try Self.samples(ByteReader(bytes: source.bytes()), side: 2))
      for (plane, whole) in zip(made, try Picture(source.bytes()).planes) {
        #expect(plane.columns == (whole.columns + 3) / 4 && plane.rows == (whole.rows + 3) / 4)
        for row in 0..<whole.rows / 8 {
          for column in 0..<whole.columns / 8 {
            let block = (0..<64).map { Double(whole.samples[(row * 8 + $0 / 8) * whole.columns + column * 8 + $0 % 8]) }
            for (index, expected) in Self.quarters(block).enumerated() {
              let sample = plane.values[(row * 2 + index / 2) * plane.columns + column * 2 + index % 2]
              #expect(abs(Double(sample) - expected) <= 2, "\(h)x\(v) at \(column), \(row)")
            }
          }
        }
      }
    }
  }

  /// Two by two samples with the four lowest frequencies of a block of 8 × 8 samples.
  private static func quarters(_ block: [Double]) -> [Double] {
    let first = (0..<8).map { cos(Double(2 * $0 + 1) * .pi / 16) * 2.0.squareRoot() }
    func mean(_ weight: (_ x: Int, _ y: Int) -> Double) -> Double {
      (0..<64).reduce(0) { $0 + block[$1] * weight($1 % 8, $1 / 8) } / 64
    }
    let (flat, across, down) = (mean { _, _ in 1 }, mean { x, _ in first[x] }, mean { _, y in first[y] })
    let both = mean { x, y in first[x] * first[y] }
    return [
      flat + across + down + both, flat - across + down - both, flat + across - down - both,
      flat - across - down + both,
    ].map { min(max($0, 0), 255) }
  }

  /// Compares AC coefficients of first and refinement scans with those of a baseline file, except for their last bit.
  @Test(arguments: [40, 90, 100]) func progressiveFilesHaveTheCoefficientsOfBaselineFiles(_ quality: Int) throws {
    for (hasFullChroma, isGrey) in [(false, false), (true, false), (false, true)] {
      var photo = SyntheticPhoto(seed: quality, width: 503, height: 301)
      (photo.quality, photo.hasFullChroma, photo.isGrey) = (quality, hasFullChroma, isGrey)
      let baseline = try Self.coefficients(photo.jpeg())
      photo.isProgressive = true
      let progressive = try Self.coefficients(photo.jpeg())
      #expect(baseline.count == progressive.count)
      let isSame = progressive == baseline.enumerated().map { $0 % 4 == 0 ? $1 : Self.withoutLastBit($1) }
      #expect(isSame, "quality \(quality), full chroma \(hasFullChroma), grey \(isGrey)")
    }
  }

  /// 56 × 40, 4:2:0, quality 55: baseline.
  private static let plain = """
    /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA4KCw0LCQ4NDA0QDw4RFiQXFhQUFiwgIRokNC43NjMuMjI6QVNGOj1OPjIySGJJTlZY
    XV5dOEVmbWVabFNbXVn/2wBDAQ8QEBYTFioXFypZOzI7WVlZWVlZWVlZWVlZWVlZWVlZWVlZWVlZWVlZWVlZWVlZWVlZWVlZWVlZ
    WVlZWVlZWVn/wAARCAAoADgDASIAAhEBAxEB/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUF
    BAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVW
    V1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi
    4+Tl5ufo6erx8vP09fb3+Pn6/8QAHwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAEC
    AxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVm
    Z2hpanN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq
    8vP09fb3+Pn6/9oADAMBAAIRAxEAPwDfR0EeetUJ7ZZ23VmrfmMdc1fsroSMGJqKWFcI87MsZSnGapxGnTAVzjGKxr+3wSoFddJM
    jx9hWPcRee+0CoWPpUpWaubSxMqcVTMK2HktzV/7esC9anbTmRelZF5ZtG2a2hiJ4l+5BHfzU1Rs3qbFpfpI4Y0VkWiiM7yaKirR
    qc28Uc9PLoyXN3GzRtG+etT20rRjcTWu9gCd2M1SurIoCwFb4nFxjQUerLwdSNablIT+0TIcZxitTT5VkIDVy7I2/wBMVdtrtkGy
    uVYOnRpe1qbsieHWJq3jsddNLGke0YNYk9qZXJAzmoUvscMc1pWlwg6cmuZxrKPtKj5Y/mcNeM1VUI9PwM99K2JvbjviituePzk3
    E4FFOnUcleNK68zueYextFuwyzZfL3HmmXMSyfMPyoorLFK9anE4reypPlMuex8w8DFVXsiinIxRRXYpupi+SWyOrL6slS5urMqe
    V45Ni5NalhL9nUO5zRRXVpV5pz1tt2O3DxUm2y4dSMp+U4FFFFY0cLCvHnne542LilUdj//Z
    """

  /// The same picture, progressive, with a restart marker after every third MCU of each scan.
  private static let restarting = """
    /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA4KCw0LCQ4NDA0QDw4RFiQXFhQUFiwgIRokNC43NjMuMjI6QVNGOj1OPjIySGJJTlZY
    XV5dOEVmbWVabFNbXVn/2wBDAQ8QEBYTFioXFypZOzI7WVlZWVlZWVlZWVlZWVlZWVlZWVlZWVlZWVlZWVlZWVlZWVlZWVlZWVlZ
    WVlZWVlZWVn/wgARCAAoADgDASIAAhEBAxEB/8QAGQAAAgMBAAAAAAAAAAAAAAAAAAQBAgMF/8QAFwEBAQEBAAAAAAAAAAAAAAAA
    AgMBBP/dAAQAA//aAAwDAQACEAMQAAABfwW3IhPrp40GLqPo/9CRMNI0bxpsNcveWf/R6CNGecLjxt6wAh//0pyCaUaCt9gBxf/E
    AB4QAAMBAAICAwAAAAAAAAAAAAABAhESEwMhEDFB/9oACAEBAAEFAvxzp1n/0Lkn0c8P/9Gb054RWn//0m/VLTrP/9O4wn0NYf/U
    l4dmnjen/9VtY506j//W4FR8f//XmjmTR//Qa0j6paf/0XGnAbx//9KHxOzT/8QAHxEAAgEEAgMAAAAAAAAAAAAAAAECAxESIQQT
    FCIy/9oACAEDAQE/Aa0Wnih1HFYl44H/0I8dPZRkpu7HT7JaP//RmnlZHkYaPmOj/9LjyeNymrlVex//xAAeEQACAwACAwEAAAAA
    AAAAAAABAgADERITITEyQf/aAAgBAgEBPwFasGzvVTBYbPQn/9BkbfyWWgJk6VReTT//0cfOTeBFbfSy37UT/9LeVuGfWkxKg40z
    /8QAFBABAAAAAAAAAAAAAAAAAAAAEP/aAAgBAQAGPwJ//9B//9F//9J//9N//9R//9V//9Z//9d//9B//9F//9I//8QAGxABAQEB
    AAMBAAAAAAAAAAAAAQARITFBURD/2gAIAQEAAT8hEhPbxv/Q9V1sm//RNbFatv/SFmnJQX//00UfKZX/1E6/APK//9UmLdODW//W
    fey7I7f/11OR9xX/0MuyOoOr/9GzgmwL/9LJrfK//9oADAMBAAIAAwAAABCeGj//0DqeP//Rewj/AP/SD+//AP/EABwRAQEBAAEF
    AAAAAAAAAAAAAAEAESExQVFhof/aAAgBAwEBPxAbAiYYXm//0BPaQwW/Rf/RKe18ngTlm8//0heZgSsQsv/EABwRAAMAAwADAAAA
    AAAAAAAAAAABESExQVFhwf/aAAgBAgEBPxB1opzVHeM//9DsILPTF0Zn/9Foo+gxLVexKD//0k/GRjdzXgybp//EABwQAQEBAQEB
    AAMAAAAAAAAAAAEAESExQRBhkf/aAAgBAQABPxA+vfxol1mZf//QyUEfS+1f/9E6pR7sQJv/0vhi44vFX//T0ES22h9v/9QzTbWb
    mSgT/9XFMZnQ3b599y//1jXjZSgv0uX/1zblxbF863//0OycLoO3Mfy//9HZwydtMu8m/9LMfZT6wv/Z
    """

  /// Decoded at each use, because the leak sanitizer would report what a global keeps.
  private static func file(_ base64: String) throws -> [UInt8] {
    Array(try #require(Data(base64Encoded: base64, options: .ignoreUnknownCharacters)))
  }

  @Test func restartsInACScansChangeNothing() throws {
    let baseline = try Self.coefficients(Self.file(Self.plain))
    let progressive = try Self.coefficients(Self.file(Self.restarting))
    #expect(progressive == baseline.enumerated().map { $0 % 4 == 0 ? $1 : Self.withoutLastBit($1) })
    #expect(Set(progressive).count > 20)
  }

  private static func withoutLastBit(_ value: Int16) -> Int16 { value.signum() * Int16(value.magnitude & ~1) }

  /// The coefficients kept of each block, four to a block.
  private static func coefficients(_ bytes: [UInt8]) throws -> [Int16] {
    let decoder = try JPEGDecoder(source: ByteReader(bytes: bytes), failOn: .error, monitor: nil)
    let (buffer, masks) = (PlaneBuffer(), PlaneBuffer())
    var blocks = BlockDecoder(decoder.input, header: SourceInfo(decoder), side: 2)
    let (_, store) = try blocks.readCoefficients(into: buffer, masksIn: masks)
    return withExtendedLifetime(buffer) { Array(store.coefficients) }
  }

  /// DC scans of one component or of all, with all bits at once, one bit after the other, or without the last bits.
  @Test func everyScriptOfDCScansGivesLibjpegsSamples() throws {
    let all = [0, 1, 2]
    let scripts: [[DCFile.Scan]] = [
      [.init(all, 0, 0)],
      [.init(all, 0, 1), .init(all, 1, 0)],
      [.init(all, 0, 3), .init(all, 3, 2), .init([1], 2, 1), .init([0, 2], 2, 1), .init(all, 1, 0)],
      [.init([2], 0, 0), .init([0], 0, 2), .init([1], 0, 1), .init([0], 2, 1), .init([0, 1], 1, 0)],
      [.init(all, 0, 2), .init([0], 2, 1)],
    ]
    for (index, script) in scripts.enumerated() {
      for (h, v) in [(1, 1), (2, 1), (2, 2)] {
        for interval in [0, 4] {
          let file = DCFile(script, h: h, v: v, restartInterval: interval)
          try Self.expectSame(file.bytes(), "script \(index), \(h)x\(v), restarts \(interval)")
        }
      }
    }
  }

  @Test func scansThatContradictEachOtherAreIrregular() throws {
    let all = [0, 1, 2]
    let scripts: [[DCFile.Scan]] = [
      [.init([0, 1], 0, 0)],
      [.init(all, 0, 0), .init(all, 0, 0)],
      [.init(all, 0, 2), .init(all, 1, 0)],
      [.init(all, 0, 1), .init(all, 1, 0), .init(all, 1, 0)],
      [.init(all, 1, 0), .init(all, 0, 1)],
    ]
    for (index, script) in scripts.enumerated() {
      let whole = ByteReader(bytes: DCFile(script, h: 2, v: 2).bytes())
      // The size is unknown, so the file is read to its end.
      let source = ByteReader(size: nil) { whole.read(at: $0, into: $1) }
      #expect(try Self.dcSamples(source) == nil, "script \(index)")
    }
  }

  /// Reads return pieces of several sizes; pieces of one byte split every marker and every stuffed zero.
  @Test func readsOfAnySizeChangeNothing() throws {
    var photo = SyntheticPhoto(seed: 9, width: 200, height: 150)
    for isProgressive in [false, true] {
      photo.isProgressive = isProgressive
      var restarting = TestJPEG.ycc(90, 70, h: 2, v: 2) { Double((Int($1) * 29 + Int($2) * 83 + $0) % 256) }
      restarting.restartInterval = 3
      for bytes in [photo.jpeg(), restarting.bytes()] {
        let expected = try #require(try Self.samples(ByteReader(bytes: bytes), side: 2))
        let whole = ByteReader(bytes: bytes)
        for size in [1, 3, 64] {
          let source = ByteReader(size: bytes.count) { offset, buffer in
            whole.read(at: offset, into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(size)))
          }
          #expect(try Self.samples(source, side: 2) == expected, "pieces of \(size)")
        }
      }
    }
  }

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
    #expect(throws: ThumbnailError.irregular) {
      try maker.makeThumbnails(of: open, options: options, decoding: .sparing) { _ in }
    }
    var made = 0
    for decoding in [Decoding.automatic, .whole] {
      try maker.makeThumbnails(of: open, options: options, decoding: decoding) { _ in made += 1 }
    }
    #expect(made == 2)
  }

  @Test func aCompleteProgressiveFileIsNotReadToItsEnd() throws {
    var photo = SyntheticPhoto(seed: 8, width: 900, height: 700)
    (photo.isProgressive, photo.quality) = (true, 95)
    let bytes = photo.jpeg()
    let whole = ByteReader(bytes: bytes)
    for (size, isWhole) in [(bytes.count, false), (nil, true)] {
      var read = 0
      let source = ByteReader(size: size) { offset, buffer in
        let result = whole.read(at: offset, into: buffer)
        if let count = try? result.get() { read += count }
        return result
      }
      #expect(try Self.dcSamples(source) != nil)
      #expect((read >= bytes.count) == isWhole, "\(read) of \(bytes.count)")
    }
  }
}

/// A progressive file with any script of DC scans, and no AC scans.
private struct DCFile {
  struct Scan {
    let components: [Int]
    let approximationHigh: Int
    let approximationLow: Int

    init(_ components: [Int], _ high: Int, _ low: Int) {
      (self.components, approximationHigh, approximationLow) = (components, high, low)
    }
  }

  private let scans: [Scan]
  private let restartInterval: Int
  private let h: Int
  private let v: Int
  private let width = 83
  private let height = 61

  init(_ scans: [Scan], h: Int, v: Int, restartInterval: Int = 0) {
    (self.scans, self.h, self.v, self.restartInterval) = (scans, h, v, restartInterval)
  }

  func bytes() -> [UInt8] {
    var file: [UInt8] = JPEGMarker.soi.bytes + TestJPEG.jfif
    file += TestJPEG.segment(.dqt, [0] + [UInt8](repeating: 3, count: 64))
    var frame: [UInt8] = [8, 0, UInt8(height), 0, UInt8(width), 3]
    for (index, factors) in [UInt8(h << 4 | v), 0x11, 0x11].enumerated() { frame += [UInt8(index + 1), factors, 0] }
    file += TestJPEG.segment(.sof2, frame)
    var counts = [UInt8](repeating: 0, count: 16)
    counts[3] = 12
    file += TestJPEG.segment(.dht, [0] + counts + (0..<12).map { UInt8($0) })
    file += TestJPEG.segment(.dri, [0, UInt8(restartInterval)])
    for scan in scans { file += data(scan) }
    return file + JPEGMarker.eoi.bytes
  }

  /// A DC coefficient that goes up and down over its whole range.
  private func dc(_ component: Int, _ column: Int, _ row: Int) -> Int {
    (column * 37 + row * 101 + component * 59) % 341 * 2 - 340
  }

  private func data(_ scan: Scan) -> [UInt8] {
    var header = [UInt8(scan.components.count)]
    for component in scan.components { header += [UInt8(component + 1), 0] }
    header += [0, 0, UInt8(scan.approximationHigh << 4 | scan.approximationLow)]
    var bits = BitWriter()
    var predictors = [0, 0, 0]
    var mcus = 0
    func beginMCU() {
      if restartInterval > 0, mcus > 0, mcus % restartInterval == 0 {
        bits.restart(mcus / restartInterval - 1)
        predictors = [0, 0, 0]
      }
      mcus += 1
    }
    func put(_ component: Int, _ column: Int, _ row: Int) {
      let value = dc(component, column, row)
      guard scan.approximationHigh == 0 else { return bits.put(value >> scan.approximationLow & 1, 1) }
      let difference = value >> scan.approximationLow - predictors[component]
      predictors[component] = value >> scan.approximationLow
      let size = BitWriter.size(difference)
      bits.put(size, 4)
      bits.putValue(difference, size)
    }
    if scan.components.count == 1 {
      let component = scan.components[0]
      let (own, ownV) = component == 0 ? (h, v) : (1, 1)
      for row in 0..<(height * ownV + 8 * v - 1) / (8 * v) {
        for column in 0..<(width * own + 8 * h - 1) / (8 * h) {
          beginMCU()
          put(component, column, row)
        }
      }
    } else {
      for row in 0..<(height + 8 * v - 1) / (8 * v) {
        for column in 0..<(width + 8 * h - 1) / (8 * h) {
          beginMCU()
          for component in scan.components {
            let (own, ownV) = component == 0 ? (h, v) : (1, 1)
            for block in 0..<own * ownV { put(component, column * own + block % own, row * ownV + block / own) }
          }
        }
      }
    }
    return TestJPEG.segment(.sos, header) + bits.finish()
  }
}
