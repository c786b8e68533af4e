import Files
import Foundation
import TestSupport
import Testing

@testable import ContactSheet

@Suite(.timeLimit(.minutes(5))) struct JPEGFrameTests {
  private let folder = TemporaryFolder()

  private func frame(_ bytes: [UInt8]) throws -> JPEGFrame {
    try folder.write(bytes, to: "file")
    let file = try Descriptor.open(folder("file"), O_RDONLY)
    return try JPEGFrame(reading: file.number)
  }

  private func reason(_ bytes: [UInt8]) -> String {
    do {
      return "\(try frame(bytes))"
    } catch {
      return (error as? UnusableJPEGError)?.reason ?? "\(error)"
    }
  }

  @Test func aFrameHasTheSizeAndTheComponentsOfThePicture() throws {
    let colour = try frame(Pictures.jpeg(width: 301, height: 17))
    #expect((colour.width, colour.height, colour.components) == (301, 17, 3))
    let grey = try frame(Pictures.jpeg(width: 9, height: 400, isGrey: true, isProgressive: true))
    #expect((grey.width, grey.height, grey.components) == (9, 400, 1))
  }

  /// A small file: marker segments, a frame header, a scan header and the end.
  private func file(
    before: [UInt8] = [], marker: UInt8 = 0xC0, precision: UInt8 = 8, height: UInt8 = 7, components: UInt8 = 3,
    length: UInt8? = nil
  ) -> [UInt8] {
    let header = [0xFF, marker, 0, length ?? 8 + 3 * components, precision, 0, height, 0, 5, components]
    let frame = header + [UInt8](repeating: 1, count: 3 * Int(components))
    return [0xFF, 0xD8] + before + frame + [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0, 0x55, 0xFF, 0xD9]
  }

  @Test func segmentsAndFillBytesBeforeTheFrameAreSkipped() throws {
    let comment: [UInt8] = [0xFF, 0xFE, 0, 6, 0xFF, 0xC0, 0xFF, 0xDA]
    #expect(try frame(file(before: comment + [0xFF, 0xFF] + comment)).width == 5)
  }

  @Test func whatPDFDoesNotHaveIsRefused() {
    #expect(reason(file(marker: 0xC9)) == "unusual kind of JPEG file")
    #expect(reason(file(marker: 0xC3)) == "unusual kind of JPEG file")
    #expect(reason(file(components: 4)) == "4 colour components")
    #expect(reason(file(precision: 12)) == "12 bits per sample")
    #expect(reason(file(height: 0)) == "JPEG file without width or height")
  }

  @Test func damageIsRefused() {
    #expect(reason([]) == "not a JPEG file")
    #expect(reason(Array("hello, world".utf8)) == "not a JPEG file")
    #expect(reason([0xFF, 0xD8]) == "JPEG file is cut off")
    #expect(reason([0xFF, 0xD8, 0xFF, 0xD9]) == "JPEG file is cut off")
    #expect(reason(file(length: 10)) == "damaged JPEG file")
    #expect(reason(file(before: [0xFF, 0xFE, 0, 1])) == "damaged JPEG file")
    #expect(reason(file(before: [0xFF, 0xD8])) == "damaged JPEG file")
    #expect(reason(file(before: [0x00, 0xFE, 0, 2])) == "damaged JPEG file")
    #expect(reason(file(before: [0xFF, 0xFE, 0xFF, 0xFF])) == "JPEG file is cut off")
    #expect(reason(file(before: [0xFF, 0xDA, 0, 2])) == "damaged JPEG file")
    #expect(reason(file(before: Array(file().dropFirst(2).prefix(19)))) == "damaged JPEG file")
    let segments = [[UInt8]](repeating: [0xFF, 0xFE, 0, 2], count: 2000).flatMap(\.self)
    #expect(reason(file(before: segments)) == "damaged JPEG file")
  }

  @Test func aPrefixOfAFileIsRefused() throws {
    let bytes = Pictures.jpeg(width: 20, height: 20)
    for count in Array(stride(from: 0, to: bytes.count, by: 3)) + [bytes.count - 1] {
      #expect(throws: UnusableJPEGError.self, "\(count) bytes") { try frame(Array(bytes.prefix(count))) }
    }
  }

  @Test func randomBytesNeverTrap() throws {
    var numbers = SplitMix(seed: 11)
    let bytes = Pictures.jpeg(width: 20, height: 20)
    for _ in 0..<300 {
      var damaged = bytes
      for _ in 0..<3 {
        damaged[Int.random(in: 0..<bytes.count, using: &numbers)] = UInt8.random(in: 0...255, using: &numbers)
      }
      if let frame = try? frame(damaged) { #expect(frame.width > 0 && frame.height > 0) }
    }
  }

  @Test func aFolderIsRefused() throws {
    let descriptor = try Descriptor.open(folder.path, O_RDONLY)
    #expect(throws: UnusableJPEGError("not a regular file")) { try JPEGFrame(reading: descriptor.number) }
  }
}
