import CDecoding
import PictureWriters
import TestSupport
import Testing
import Thumbnails

@testable import Pictures

/// Compares the memory that a header announces with the heap that decoding takes, measured by `decoding-memory`.
@Suite(
  .serialized, .timeLimit(.minutes(2)), .enabled(if: counts_memory(), "a sanitizer's allocator does not count"))
struct WorkingMemoryTests {
  @Test(arguments: TestPNG.kinds, [false, true])
  func decodingAPNGTakesNoMoreThanItsHeaderSays(
    _ kind: (colorType: Int, bitDepth: Int), _ isInterlaced: Bool
  ) async throws {
    for isKeyed in kind.colorType < 4 ? [false, true] : [false] {
      for (width, height) in [(5, 5), (6001, 3)] {
        var png = TestPNG(
          width: width, height: height, colorType: kind.colorType, bitDepth: kind.bitDepth, isInterlaced: isInterlaced)
        if isKeyed { png.makeKeyed() }
        let bytes = png.bytes
        let header = try PNGHeader.read(FileWindow(ByteReader(bytes: bytes)))
        let taken = try await header.measuredBytes(of: bytes, CDECODING_PNG)
        #expect(taken <= header.workingBytes + header.sumBytes, "\(kind), keyed \(isKeyed), \(width) × \(height)")
        #expect(header.workingBytes < taken + 70_000, "\(kind), keyed \(isKeyed), \(width) × \(height)")
      }
    }
  }

  @Test func theProfileOfAPNGCounts() async throws {
    var png = TestPNG(colorType: 2, bitDepth: 8)
    // It claims to be long; libpng allocates as much.
    var profile = [UInt8](repeating: 0, count: 20_000)
    profile.replaceSubrange(0..<4, with: TestPNG.number(1_900_000))
    profile.replaceSubrange(12..<24, with: Array("mntrRGB XYZ ".utf8))
    profile.replaceSubrange(36..<40, with: Array("acsp".utf8))
    profile.replaceSubrange(68..<80, with: TestPNG.number(63190) + TestPNG.number(65536) + TestPNG.number(54061))
    png.first = [("iCCP", Array("name\0\0".utf8) + TestPNG.stored(profile))]
    let bytes = png.bytes
    let header = try PNGHeader.read(FileWindow(ByteReader(bytes: bytes)))
    guard case .compressedProfile(let longest) = header.color else {
      Issue.record("there is no profile")
      return
    }
    let taken = try await header.measuredBytes(of: bytes, CDECODING_PNG, profile: longest)
    #expect(taken > 1_900_000)
    #expect(taken <= header.workingBytes + header.sumBytes)
  }

  @Test(arguments: [false, true])
  func decodingAGIFTakesNoMoreThanItsHeaderSays(_ isInterlaced: Bool) async throws {
    for (width, height) in [(5, 5), (20_001, 3)] {
      let gif = TestGIF(
        screen: (width, height), frame: (0, 0, width, height), isInterlaced: isInterlaced, hasLocalTable: true,
        transparent: 1)
      let bytes = gif.bytes
      let header = try GIFHeader.read(FileWindow(ByteReader(bytes: bytes)))
      let taken = try await header.measuredBytes(of: bytes, CDECODING_GIF)
      #expect(taken <= header.workingBytes + header.sumBytes, "\(width) × \(height)")
      #expect(header.workingBytes < taken + 20_000, "\(width) × \(height)")
    }
  }
}
