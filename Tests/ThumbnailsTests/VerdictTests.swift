import Foundation
import TestSupport
import Testing

@testable import Thumbnails

/// Whether a file counts as whole, flawed or broken does not depend on how it is decoded.
@Suite(.timeLimit(.minutes(2))) struct VerdictTests {
  /// Sizes at which a photo of 640 × 480 pixels is decoded at 1/8 and at 1/4 by `BlockDecoder`, and at 1/2 and at full
  /// scale by libjpeg.
  private static let sizes = ["24", "60", "150", "600"]

  /// A file with more than 100 kB of data, so that libjpeg-turbo could use its faster routine.
  private static let baseline: [UInt8] = {
    var photo = SyntheticPhoto(seed: 5, width: 640, height: 480)
    photo.quality = 95
    return photo.jpeg()
  }()

  private static let progressive: [UInt8] = {
    var photo = SyntheticPhoto(seed: 5, width: 640, height: 480)
    photo.isProgressive = true
    return photo.jpeg()
  }()

  /// The thumbnail's warnings, or the error.
  private static func verdict(
    _ bytes: [UInt8], _ size: String, _ failOn: FailOn = .error
  ) throws -> Result<[String], ThumbnailError> {
    let options = ThumbnailOptions(sizes: [try SizeSpec(parsing: size)], subsampling: .s420, failOn: failOn)
    do {
      return .success(
        try ThumbnailMaker().makeThumbnails(of: ByteReader(bytes: bytes), options: options) { _ in }.warnings)
    } catch let error as ThumbnailError {
      return .failure(error)
    }
  }

  private static func offsets(of marker: JPEGMarker, in bytes: [UInt8]) -> [Int] {
    bytes.indices.dropLast().filter { bytes[$0] == JPEGMarker.prefix && bytes[$0 + 1] == marker.rawValue }
  }

  @Test func theSamplesUseEveryDecoding() throws {
    #expect(Self.baseline.count > 100_000)
    let info = try ThumbnailMaker.readInfo(of: ByteReader(bytes: Self.baseline))
    let methods = try Self.sizes.map { size in
      let options = ThumbnailOptions(sizes: [try SizeSpec(parsing: size)], subsampling: .s420)
      return DecodePlan(info, for: options.allPlacements(for: info.pixels), options, .sparing)
    }
    #expect(methods.map(\.denominator) == [8, 4, 2, 1])
    #expect(methods.prefix(2).map(\.method) == [.blocks(side: 1), .blocks(side: 2)])
  }

  /// A download that was broken off often has its full length, with zeros in place of the rest. They decode to blocks of
  /// one colour.
  @Test func aTailOfZerosIsTruncation() throws {
    let scan = try #require(Self.offsets(of: .sos, in: Self.baseline).first)
    var truncated = 0
    for percent in stride(from: 5, through: 98, by: 7) {
      let length = scan + 14 + (Self.baseline.count - scan - 14) * percent / 100
      let padded = Self.baseline.prefix(length) + [UInt8](repeating: 0, count: Self.baseline.count - length)
      for size in Self.sizes {
        for failOn in FailOn.allCases {
          switch try Self.verdict(Array(padded), size, failOn) {
          case .failure(.truncated): truncated += 1
          // A code that begins before the zeros and ends in them may not exist.
          case .failure(.corrupt): break
          case .failure(.imperfect) where failOn == .warning: break
          case let other: Issue.record("\(percent) % at \(size), \(failOn): \(other)")
          }
        }
      }
    }
    #expect(truncated > 80)
  }

  @Test func extraBytesBeforeTheEndMarkerAreHarmless() throws {
    let padded = Array(Self.baseline.dropLast(2)) + [UInt8](repeating: 0, count: 40) + JPEGMarker.eoi.bytes
    for size in Self.sizes {
      let warnings = try Self.verdict(Array(padded), size).get()
      #expect(warnings.count == 1 && warnings[0].contains("extraneous"), "\(size): \(warnings)")
    }
  }

  /// libjpeg-turbo has a routine that takes codes that do not exist for zeros, without a warning.
  @Test func codesThatDoNotExistAreFoundAtEverySizeAndLevel() throws {
    var broken = Self.baseline
    let middle = broken.count / 2
    // No code consists of ones only. The last byte 0x00 is the stuffing of the one before.
    broken.replaceSubrange(middle..<middle + 8, with: [0x00, 0xFF, 0x00, 0xFF, 0x00, 0xFF, 0x00, 0x00])
    for size in Self.sizes {
      for failOn in [FailOn.error, .warning] {
        guard case .failure(.corrupt) = try Self.verdict(broken, size, failOn) else {
          Issue.record("passed at \(size), \(failOn)")
          continue
        }
      }
      #expect(try !Self.verdict(broken, size, .truncated).get().isEmpty, "no warning at \(size)")
    }
  }

  /// `BlockDecoder` finds damage that libjpeg never finds. It stays known when libjpeg decodes the file.
  @Test func aBlockWithTooManyCoefficientsIsDamage() throws {
    let broken = Self.withTooManyCoefficients
    let reason = Corruption.Fault.tooManyCoefficients.rawValue
    // At 1/8 and at 1/4.
    for size in ["12", "30"] {
      let verdict = try Self.verdict(broken, size)
      #expect(verdict == .failure(.corrupt(reason)))
      #expect(try Self.verdict(broken, size, .truncated) == .success([reason]))
    }
    for size in Self.sizes {
      #expect(try Self.verdict(broken, size, .warning) == .failure(.corrupt(reason)))
    }
    let whole = ThumbnailOptions(sizes: [try SizeSpec(parsing: "24")], failOn: .truncated)
    let maker = ThumbnailMaker()
    let source = ByteReader(bytes: broken)
    #expect(throws: ThumbnailError.irregular(damage: reason)) {
      try maker.makeThumbnails(of: source, options: whole, decoding: .sparing) { _ in }
    }
    let info = try maker.makeThumbnails(of: source, options: whole, decoding: .whole(damage: reason)) { _ in }
    #expect(info.warnings == [reason])
  }

  /// One grey block whose AC code has only the symbol 0xF1, a coefficient after 15 zeros; the fifth is the 80th.
  private static let withTooManyCoefficients: [UInt8] = {
    let side = 256
    let blocks = (side / 8) * (side / 8)
    var bytes = JPEGMarker.soi.bytes + TestJPEG.segment(.dqt, [0] + [UInt8](repeating: 1, count: 64))
    bytes += TestJPEG.segment(.sof0, [8, 1, 0, 1, 0, 1, 1, 0x11, 0])
    let oneCode: [UInt8] = [1] + [UInt8](repeating: 0, count: 15)
    // The codes of one bit: DC difference zero; AC coefficient after 15 zeros.
    bytes += TestJPEG.segment(.dht, [0x00] + oneCode + [0x00])
    bytes += TestJPEG.segment(.dht, [0x10] + oneCode + [0xF1])
    bytes += TestJPEG.segment(.sos, [1, 1, 0, 0, 63, 0])
    // Per block a DC code, and four AC codes of one bit, each with a bit for the sign.
    bytes += [UInt8](repeating: 0, count: (blocks * 9 + 7) / 8)
    return bytes + JPEGMarker.eoi.bytes
  }()

  /// The EOI marker shows that the file ends there, so it costs nothing to know that its other scans are missing.
  @Test func aProgressiveFileWithoutItsLastScansHasARemark() throws {
    let scans = Self.offsets(of: .sos, in: Self.progressive)
    #expect(scans.count == 10)
    // The DC scan alone, DC and some AC scans, and all but the last refinement. Before that, BlockDecoder has met all
    // scans that it needs, and looks no further.
    for (count, sizes) in [(1, Self.sizes), (5, Self.sizes), (9, Self.sizes.suffix(2))] {
      // The tables of the scan that is left out may stay.
      let short = Array(Self.progressive[..<scans[count]]) + JPEGMarker.eoi.bytes
      for size in sizes {
        let warnings = try Self.verdict(short, size).get()
        #expect(warnings.count == 1 && warnings[0].contains("last scans are missing"), "\(count), \(size): \(warnings)")
        #expect(try Self.verdict(short, size, .warning) == .failure(.imperfect(warnings.first ?? "")))
      }
    }
    for size in Self.sizes { #expect(try Self.verdict(Self.progressive, size) == .success([])) }
    // Other flaws do not hide it.
    let padded = Self.progressive[..<scans[5]] + [UInt8](repeating: 0, count: 40) + JPEGMarker.eoi.bytes
    for size in Self.sizes {
      let warnings = try Self.verdict(Array(padded), size).get()
      #expect(warnings.contains { $0.contains("last scans are missing") }, "\(size): \(warnings)")
    }
  }

  // MARK: Arithmetic coding

  /// Stripes of 96 × 64 pixels, quality 50, written by libjpeg-turbo's cjpeg with -arithmetic -progressive. The encoder
  /// leaves out ten and more zero bytes at the end of a scan, because the picture repeats.
  private static func stripes() throws -> [UInt8] {
    let data = Data(
      base64Encoded: """
        /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0oOjM9PDkzODdASFxOQERXRTc4UG1RV19iZ2hn\
        Pk1xeXBkeFxlZ2P/ygALCABAAGABAREA/8wABAAQ/9oACAEBAAAAAVD/zAAEEAX/2gAIAQEAAQUCn5IhuKR0OdYElznOc5znOc5znOc5\
        zoD/zAAEEAX/2gAIAQEABj8CYE7IW8yVskVoKobUjzlOzuYfox1gHji0q6ZbtsohW/NN2b3A43NrZjVqK1YV6rXxoY2kSps+vv/MAAQQ\
        Bf/aAAgBAQABPyEfa9CHVodA/9oACAEBAAAAEEvG/8wABBAF/9oACAEBAAE/EB9rugBDlcD/2Q==
        """)
    return Array(try #require(data))
  }

  @Test func zerosThatAnArithmeticEncoderLeavesOutAreNotMissing() throws {
    let stripes = try Self.stripes()
    for failOn in FailOn.allCases {
      for size in ["4", "20", "90"] { #expect(try Self.verdict(stripes, size, failOn) == .success([])) }
    }
    // A third of the longest scan is missing.
    let last = Self.offsets(of: .sos, in: stripes)[2]
    let end = try #require(stripes.indices.first { $0 > last + 10 && stripes[$0...].starts(with: [0xFF, 0xCC]) })
    let cut = stripes[..<(end - (end - last) / 3)] + stripes[end...]
    #expect(try Self.verdict(Array(cut), "90") == .failure(.truncated("its picture data ends early")))
  }
}
