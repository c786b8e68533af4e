import Foundation
import TestSupport
import Testing

@testable import Thumbnails

/// Compares the block decoder with libjpeg: at scale 1/8 it makes exactly the same samples, or none.
@Suite(.timeLimit(.minutes(5))) struct BlockDecoderTests {
  /// A plane's samples, row by row.
  struct Samples: Equatable {
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
  static func dcSamples(_ source: ByteReader) throws -> [Samples]? { try samples(source, side: 1) }

  static func samples(_ source: ByteReader, side: Int) throws -> [Samples]? {
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
  static func reference(_ bytes: [UInt8]) throws -> [Samples?] {
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
    let ones = [UInt8](repeating: 1, count: 16)
    let ladder = try #require(HuffmanCode(counts: ones, symbols: (0..<16).map { UInt8($0) }))
    for length in 1...16 {
      let word = ~UInt64(0) << UInt64(64 - length + 1) & (~0 << UInt64(64 - length))
      let found = try #require(ladder.symbol(in: word))
      #expect(found == (length - 1, length))
    }
    #expect(ladder.symbol(in: ~0) == nil)
    let lookup = try #require(ladder.dcLookup())
    #expect(lookup[0] == 1 && lookup[0b11_1111_1110] == 10 | 9 << 8 && lookup[0b11_1111_1111] == 0)
    let empty = try #require(HuffmanCode(counts: [UInt8](repeating: 0, count: 16), symbols: []))
    #expect(empty.symbol(in: 0) == nil && empty.acLookup().allSatisfy { $0 == 0 })
    // There may not be more codes than fit, or a code that consists only of ones.
    #expect(HuffmanCode(counts: [3] + [UInt8](repeating: 0, count: 15), symbols: [1, 2, 3]) == nil)
    #expect(HuffmanCode(counts: [2] + [UInt8](repeating: 0, count: 15), symbols: [1, 2]) == nil)
    // The size is too large for a DC difference.
    #expect(HuffmanCode(counts: [1] + [UInt8](repeating: 0, count: 15), symbols: [16])?.dcLookup() == nil)
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

  /// Compares AC coefficients of first and refinement scans with those of a baseline file, except for bits that do not
  /// show: the last one, and with small quantization steps also the last but one of luma, whose first scan has neither.
  @Test(arguments: [(40, 1), (90, 2), (100, 2)])
  func progressiveFilesHaveTheCoefficientsOfBaselineFiles(_ quality: Int, _ lumaBits: Int) throws {
    for (hasFullChroma, isGrey) in [(false, false), (true, false), (false, true)] {
      var photo = SyntheticPhoto(seed: quality, width: 503, height: 301)
      (photo.quality, photo.hasFullChroma, photo.isGrey) = (quality, hasFullChroma, isGrey)
      let baseline = try Self.coefficients(photo.jpeg())
      photo.isProgressive = true
      let progressive = try Self.coefficients(photo.jpeg())
      let expected = zip(baseline, [lumaBits, 1, 1]).map { Self.without(lastBits: $1, $0) }
      let isSame = progressive == expected
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
    #expect(progressive == baseline.map { Self.without(lastBits: 1, $0) })
    #expect(Set(progressive.joined()).count > 20)
  }

  /// Coefficients, four to a block, without the last bits of AC coefficients.
  static func without(lastBits: Int, _ coefficients: [Int16]) -> [Int16] {
    coefficients.enumerated().map { place, value in
      place % 4 == 0 ? value : value.signum() * Int16(value.magnitude & ~0 << UInt16(lastBits))
    }
  }

  /// The coefficients kept of each component's blocks, four to a block.
  static func coefficients(_ bytes: [UInt8]) throws -> [[Int16]] {
    let decoder = try JPEGDecoder(source: ByteReader(bytes: bytes), failOn: .error, monitor: nil)
    let (buffer, masks) = (PlaneBuffer(), PlaneBuffer())
    var blocks = BlockDecoder(decoder.input, header: SourceInfo(decoder), side: 2)
    let (frame, store) = try blocks.readCoefficients(into: buffer, masksIn: masks)
    let ends = frame.components.dropFirst().map(\.start) + [frame.blockCount]
    return withExtendedLifetime(buffer) {
      zip(frame.components, ends).map { Array(store.coefficients[4 * $0.start..<4 * $1]) }
    }
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
