import CDecoding
import TestSupport
import Testing
import Thumbnails

@testable import Pictures

/// Our parsers and the libraries read each file, so they must agree, whatever is wrong with it.
@Suite(.timeLimit(.minutes(2)))
struct HostileRastersTests {
  /// A file with a few bytes changed, removed or repeated.
  private func changed(_ file: [UInt8], _ numbers: inout SplitMix) -> [UInt8] {
    var file = file
    for _ in 0..<Int.random(in: 1...4, using: &numbers) {
      let place = Int.random(in: 0..<file.count, using: &numbers)
      switch Int.random(in: 0..<8, using: &numbers) {
      case 0: file.remove(at: place)
      case 1: file.insert(file[place], at: place)
      case 2: file[place] ^= 1 << UInt8.random(in: 0..<8, using: &numbers)
      case 3: file[place] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &numbers) ?? 0
      default: file[place] = UInt8.random(in: 0...255, using: &numbers)
      }
    }
    return file
  }

  /// The file with the right CRC after each chunk, because otherwise libpng would refuse most of them.
  private func repaired(_ file: [UInt8]) -> [UInt8] {
    var file = file
    var place = 8
    while file.count - place >= 12 {
      let length = file[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
      guard length <= file.count - place - 12 else { break }
      let chunk = TestPNG.chunk(
        String(decoding: file[place + 4..<place + 8], as: UTF8.self), Array(file[place + 8..<place + 8 + length]))
      if chunk.count == length + 12 { file.replaceSubrange(place..<place + length + 12, with: chunk) }
      place += length + 12
    }
    return file
  }

  /// Decodes a file as its header says. Returns whether there is a header and a picture.
  private func agree(_ file: [UInt8], _ kind: cdecoding_kind, _ name: String) -> (header: Bool, picture: Bool) {
    guard let window = try? FileWindow(ByteReader(bytes: file)),
      let header = try? kind == CDECODING_PNG ? PNGHeader.read(window) : GIFHeader.read(window)
    else { return (false, false) }
    guard header.pixels.width * header.pixels.height < 1 << 20 else { return (true, false) }
    let decode = { (background: UInt8) in
      DecodedPlanes(
        file, kind: kind, width: header.pixels.width, height: header.pixels.height,
        planeCount: header.components == .rgb ? 3 : 1, shrink: 2
      ) { $0.background = (background, background, background, 0) }
    }
    let (black, white) = (decode(0), decode(255))
    let expected = [CDECODING_OK, CDECODING_TRUNCATED, CDECODING_DAMAGED]
    #expect(expected.contains(black.status), "\(name): \(black.message)")
    #expect(black.message != "the picture has another size than its header says", "\(name)")
    #expect((black.status == CDECODING_OK) == (black.message == ""), "\(name)")
    if black.status == CDECODING_OK, !header.hasAlpha {
      #expect(black.planes == white.planes, "\(name) is transparent, but its header says that it is not")
    }
    return (true, black.status == CDECODING_OK)
  }

  @Test func aPNGsHeaderAgreesWithLibpng() {
    var numbers = SplitMix(seed: 1)
    var counts = (headers: 0, pictures: 0)
    for (index, kind) in TestPNG.kinds.enumerated() {
      for round in 0..<100 {
        var png = TestPNG(colorType: kind.0, bitDepth: kind.1, isInterlaced: round % 2 == 1)
        if kind.0 < 4, round % 3 == 0 { png.makeKeyed() }
        let result = agree(repaired(changed(png.bytes, &numbers)), CDECODING_PNG, "\(index), round \(round)")
        counts.headers += result.header ? 1 : 0
        counts.pictures += result.picture ? 1 : 0
      }
    }
    // Neither all nor none are too damaged.
    #expect(counts.headers > 700 && counts.pictures > 50 && counts.pictures < counts.headers, "\(counts)")
  }

  @Test func aGIFsHeaderAgreesWithGiflib() {
    var numbers = SplitMix(seed: 2)
    var counts = (headers: 0, pictures: 0)
    for round in 0..<1500 {
      let gif = TestGIF(
        screen: (9, round % 5 + 4), isInterlaced: round % 2 == 1, hasLocalTable: round % 3 == 0,
        transparent: round % 7 == 0 ? 3 : nil, blocks: round % 11 == 0 ? [0x21, 0xFE, 2, 65, 66, 0] : [])
      let result = agree(changed(gif.bytes, &numbers), CDECODING_GIF, "round \(round)")
      counts.headers += result.header ? 1 : 0
      counts.pictures += result.picture ? 1 : 0
    }
    #expect(counts.headers > 700 && counts.pictures > 100 && counts.pictures < counts.headers, "\(counts)")
  }
}
