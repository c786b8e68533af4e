import TestSupport
import Testing

@testable import Thumbnails

/// The order of the AC scans and the quantization steps decide which scans are skipped.
extension BlockDecoderTests {
  /// Luma's first AC scan leaves two bits, an error of up to three steps. With steps of 8 it does not show, so the scan
  /// with the next bit is skipped; with a step of 9, at any of the coefficients kept, it is decoded.
  @Test(arguments: [([8, 8, 8], 2), ([9, 8, 8], 1), ([8, 9, 8], 1), ([8, 8, 9], 1)])
  func quantizationStepsDecideWhichScansAreSkipped(_ steps: [UInt8], _ bitsLeft: Int) throws {
    for isGrey in [false, true] {
      let made = try Self.coefficients(Self.progressive(isGrey: isGrey, steps: steps).bytes)
      #expect(made == (try Self.baseline(isGrey: isGrey, lumaBits: bitsLeft)), "grey \(isGrey)")
    }
  }

  /// Both chroma components need no AC scan after their first one. Luma's first AC scan comes later here, and needs
  /// non-zero masks from then on.
  @Test func aComponentIsRefinedAfterOthersNeedNoMore() throws {
    var file = try Self.progressive(isGrey: false, steps: [9, 9, 9])
    let isFirstOfLuma = { (scan: ScanBytes) in scan.components == [1] && scan.start == 1 && scan.high == 0 }
    let place = try #require(file.scans.firstIndex(where: isFirstOfLuma))
    let scan = file.scans.remove(at: place)
    let after = try #require(file.scans.lastIndex { $0.components != [1] && $0.start == 1 && $0.high == 0 })
    try #require(after >= place)
    file.scans.insert(scan, at: after + 1)
    #expect(try Self.coefficients(file.bytes) == Self.baseline(isGrey: false, lumaBits: 1))
  }

  /// The same coefficients from a baseline file, without the bits that are not decoded.
  private static func baseline(isGrey: Bool, lumaBits: Int) throws -> [[Int16]] {
    zip(try coefficients(photo(isGrey: isGrey).jpeg()), [lumaBits, 1, 1]).map { without(lastBits: $1, $0) }
  }

  private static func photo(isGrey: Bool) -> SyntheticPhoto {
    var photo = SyntheticPhoto(seed: 21, width: 203, height: 151)
    (photo.quality, photo.isGrey) = (85, isGrey)
    return photo
  }

  /// - parameter steps: luma's quantization steps of the AC coefficients kept.
  private static func progressive(isGrey: Bool, steps: [UInt8]) throws -> ProgressiveFile {
    var photo = photo(isGrey: isGrey)
    photo.isProgressive = true
    var bytes = photo.jpeg()
    let table = TestJPEG.segment(.dqt, [0] + [UInt8](repeating: 0, count: 64)).prefix(5)
    let place = try #require(bytes.indices.first { bytes[$0...].starts(with: table) })
    for (index, step) in zip(CoefficientStore.zigzagIndices.dropFirst(), steps) {
      bytes[place + table.count + index] = step
    }
    return ProgressiveFile(bytes)
  }
}

/// A scan with the Huffman tables before it.
private struct ScanBytes {
  var bytes: [UInt8] = []
  var components: [UInt8] = []
  var start = 0
  var high = 0
}

/// A progressive file, divided into its scans.
private struct ProgressiveFile {
  /// The bytes before the first scan's tables.
  private var head: [UInt8] = []
  var scans: [ScanBytes] = []

  init(_ bytes: [UInt8]) {
    var (place, scan) = (2, ScanBytes())
    head = Array(bytes[..<2])
    while let marker = Optional(JPEGMarker(rawValue: bytes[place + 1])), marker != .eoi {
      var end = place + 2 + Int(bytes[place + 2]) << 8 + Int(bytes[place + 3])
      if marker == .sos {
        let count = Int(bytes[place + 4])
        scan.components = (0..<count).map { bytes[place + 5 + 2 * $0] }
        scan.start = Int(bytes[end - 3])
        scan.high = Int(bytes[end - 1] >> 4)
        while bytes[end] != JPEGMarker.prefix || bytes[end + 1] == JPEGMarker.stuffing { end += 1 }
      }
      if marker == .sos || marker == .dht {
        scan.bytes += bytes[place..<end]
      } else {
        head += bytes[place..<end]
      }
      if marker == .sos {
        scans.append(scan)
        scan = ScanBytes()
      }
      place = end
    }
  }

  var bytes: [UInt8] { head + scans.flatMap(\.bytes) + JPEGMarker.eoi.bytes }
}
