import Foundation
import ReferenceDecoder
import TestSupport
import Testing

@testable import Thumbnails

/// Compares the coefficients of blocks that several cursors have found with those of one cursor, and with libjpeg's.
@Suite(.timeLimit(.minutes(5))) struct BlockFinderTests {
  /// What decoding a file gives.
  private enum Result: Equatable {
    case coefficients([Int16])
    case irregular
    case corrupt(Corruption.Fault)
  }

  private static func decode(_ source: ByteReader, side: Int) throws -> Result {
    let decoder = try JPEGDecoder(source: source, failOn: .error, monitor: nil)
    let (buffer, masks) = (PlaneBuffer(), PlaneBuffer())
    var blocks = BlockDecoder(decoder.input, header: SourceInfo(decoder), side: side)
    do {
      let (_, store) = try blocks.readCoefficients(into: buffer, masksIn: masks)
      return withExtendedLifetime(buffer) { .coefficients(Array(store.coefficients)) }
    } catch {
      switch error {
      case .irregular: return .irregular
      case .corrupt(let corruption): return .corrupt(corruption.fault)
      case .failed(let failure): throw failure
      }
    }
  }

  /// Decodes with one cursor, because there are never enough bytes for more.
  private static func decodeByOneCursor(_ bytes: [UInt8], side: Int) throws -> Result {
    let whole = ByteReader(bytes: bytes)
    let source = ByteReader(size: bytes.count) { offset, buffer in
      whole.read(at: offset, into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(1000)))
    }
    return try decode(source, side: side)
  }

  /// libjpeg's coefficients of the blocks that contain samples, component by component, and those of `coefficients`.
  private static func compared(_ bytes: [UInt8], _ coefficients: [Int16]) throws -> (own: [Int16], reference: [Int16]) {
    let decoder = try JPEGDecoder(source: ByteReader(bytes: bytes), failOn: .error, monitor: nil)
    let info = SourceInfo(decoder)
    let grid = info.grid
    var (own, reference, start) = ([Int16](), [Int16](), 0)
    for (index, (h, v)) in info.sampling.enumerated() {
      let columns = (info.pixels.width * h).ceilingQuotient(8 * grid.hMax)
      let rows = (info.pixels.height * v).ceilingQuotient(8 * grid.vMax)
      var component = [Int16](repeating: 0, count: columns * rows * 4)
      let status = reference_coefficients(bytes, bytes.count, CInt(index), CInt(columns), CInt(rows), &component)
      try #require(status == 0)
      reference += component
      for row in 0..<rows {
        let first = start + row * grid.across * h
        own += coefficients[first * 4..<(first + columns) * 4]
      }
      start += grid.across * h * grid.down * v
    }
    return (own, reference)
  }

  private static func expectLibjpegsCoefficients(_ bytes: [UInt8], _ note: String) throws {
    let made = try decode(ByteReader(bytes: bytes), side: 2)
    guard case .coefficients(let coefficients) = made else {
      Issue.record("\(note): \(made)")
      return
    }
    let (own, reference) = try compared(bytes, coefficients)
    #expect(own == reference, "\(note)")
    #expect(made == (try decodeByOneCursor(bytes, side: 2)), "\(note)")
    let dc = Result.coefficients(stride(from: 0, to: coefficients.count, by: 4).map { coefficients[$0] })
    #expect(try decode(ByteReader(bytes: bytes), side: 1) == dc, "\(note)")
  }

  @Test(arguments: [5, 40, 75, 92, 100]) func photosHaveLibjpegsCoefficients(quality: Int) throws {
    for (hasFullChroma, isGrey) in [(false, false), (true, false), (false, true)] {
      var photo = SyntheticPhoto(seed: quality, width: 803, height: 601)
      (photo.quality, photo.hasFullChroma, photo.isGrey) = (quality, hasFullChroma, isGrey)
      try Self.expectLibjpegsCoefficients(photo.jpeg(), "\(quality), full chroma \(hasFullChroma), grey \(isGrey)")
    }
  }

  /// All codes of a table have the same length here, so that guesses meet real blocks late, or never.
  @Test(arguments: [(1, 1), (2, 1), (1, 2), (2, 2), (4, 1)])
  func codesThatHardlySynchronise(_ h: Int, _ v: Int) throws {
    var random = SplitMix(seed: 7)
    for (interval, isInterleaved) in [(0, true), (0, false), (1, true), (150, true), (900, false)] {
      let noise = (0..<1 << 16).map { _ in Double(random.next() % 256) }
      var file = TestJPEG.ycc(203, 301, h: h, v: v) { component, x, y in
        noise[(Int(x) * 331 + Int(y) * 7919 + component * 104_729) & 0xFFFF]
      }
      (file.restartInterval, file.isInterleaved) = (interval, isInterleaved)
      try Self.expectLibjpegsCoefficients(file.bytes(), "\(h)x\(v), restarts \(interval), \(isInterleaved)")
    }
  }

  /// Every block has 64 symbols of 4 bits. A guess that does not begin at a block never meets one.
  @Test func guessesThatNeverMeetABlock() throws {
    for (width, height) in [(500, 500), (2400, 64), (8, 9000)] {
      try Self.expectLibjpegsCoefficients(Self.neverMeeting(width, height), "\(width)x\(height)")
    }
  }

  /// A grey picture whose coefficients are all 1 or -1, and whose only codes have 3 bits.
  private static func neverMeeting(_ width: Int, _ height: Int) -> [UInt8] {
    var file: [UInt8] = JPEGMarker.soi.bytes + TestJPEG.jfif
    file += TestJPEG.segment(.dqt, [0] + [UInt8](repeating: 1, count: 64))
    file += TestJPEG.segment(
      .sof0, [8, UInt8(height >> 8), UInt8(height & 255), UInt8(width >> 8), UInt8(width & 255), 1, 1, 0x11, 0])
    var counts = [UInt8](repeating: 0, count: 16)
    counts[2] = 1
    for destination: UInt8 in [0x00, 0x10] { file += TestJPEG.segment(.dht, [destination] + counts + [1]) }
    var bits = BitWriter()
    var random = SplitMix(seed: 3)
    for block in 0..<width.ceilingQuotient(8) * height.ceilingQuotient(8) {
      // The DC coefficient goes up and down.
      bits.put(block % 2, 4)
      for _ in 1..<64 { bits.put(Int(random.next() % 2), 4) }
    }
    return file + TestJPEG.segment(.sos, [1, 1, 0, 0, 63, 0]) + bits.finish() + JPEGMarker.eoi.bytes
  }

  /// A broken file has the same coefficients, or the same fault, however many cursors read it.
  @Test(arguments: [1, 2]) func brokenFilesAreJudgedAsByOneCursor(side: Int) throws {
    var random = SplitMix(seed: 11)
    var photo = SyntheticPhoto(seed: 5, width: 640, height: 480)
    photo.quality = 90
    var restarting = TestJPEG.ycc(307, 201, h: 2, v: 1) { Double((Int($1) * 29 + Int($2) * 83 + $0) % 256) }
    restarting.restartInterval = 150
    var results: [String: Int] = [:]
    for bytes in [photo.jpeg(), restarting.bytes(), Self.neverMeeting(400, 400)] {
      for _ in 0..<60 {
        var broken = bytes
        for _ in 0...Int(random.next() % 2) {
          let place = 700 + Int(random.next() % UInt64(bytes.count - 700))
          broken[place] = UInt8(truncatingIfNeeded: random.next())
        }
        if random.next() % 4 == 0 { broken.removeLast(Int(random.next() % UInt64(broken.count / 2))) }
        let result = try Self.decode(ByteReader(bytes: broken), side: side)
        #expect(result == (try Self.decodeByOneCursor(broken, side: side)))
        switch result {
        case .coefficients: results["coefficients", default: 0] += 1
        case .irregular: results["irregular", default: 0] += 1
        case .corrupt(let fault): results[fault.rawValue, default: 0] += 1
        }
      }
    }
    #expect(results.count > 3 && results.values.allSatisfy { $0 > 5 }, "\(results)")
  }

  /// A fault can lie where a guess begins. The step that meets it leaves the guess and the first cursor at the same bit.
  /// The first cursor must count the fault, and not join the guess.
  @Test(arguments: [1, 2]) func aFaultCountsWhereAGuessMeetsItToo(side: Int) throws {
    var random = SplitMix(seed: 12)
    var photo = SyntheticPhoto(seed: 6, width: 640, height: 480)
    (photo.quality, photo.isGrey) = (90, true)
    let bytes = photo.jpeg()
    var corrupt = 0
    for _ in 0..<1500 {
      var broken = bytes
      broken[700 + Int(random.next() % UInt64(bytes.count - 700))] ^= 1 << UInt8(random.next() % 8)
      let result = try Self.decode(ByteReader(bytes: broken), side: side)
      #expect(result == (try Self.decodeByOneCursor(broken, side: side)))
      if case .corrupt = result { corrupt += 1 }
    }
    #expect(corrupt > 100)
  }
}
