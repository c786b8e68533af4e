import CDecoding
import PictureWriters
import TestSupport
import Testing
import Thumbnails

@testable import Pictures

@Suite(.timeLimit(.minutes(5))) struct WebPTests {
  static func header(_ bytes: [UInt8]) throws -> PictureHeader {
    try WebPHeader.read(FileWindow(ByteReader(bytes: bytes)))
  }

  /// Red, green and blue at a sample of the first plane. Chroma planes also span the whole picture, but their samples
  /// are at other places.
  static func color(_ planes: DecoderCall, _ column: Int, _ row: Int) -> [Double] {
    let all = [planes.request.planes.0, planes.request.planes.1, planes.request.planes.2]
    let (x, y) = ((Double(column) + 0.5) * Double(all[0].shrink_x), (Double(row) + 0.5) * Double(all[0].shrink_y))
    let values = all.indices.map { index -> Double in
      let plane = all[index]
      // Between the centres of the samples.
      let across = x * Double(plane.width) / Double(all[0].width) / Double(plane.shrink_x) - 0.5
      let down = y * Double(plane.height) / Double(all[0].height) / Double(plane.shrink_y) - 0.5
      let samples = planes.plane(index)
      func sample(_ column: Int, _ row: Int) -> Double {
        let (columns, rows) = (Int(plane.columns), Int(plane.rows))
        return Double(samples[max(0, min(row, rows - 1)) * columns + max(0, min(column, columns - 1))])
      }
      let (left, top) = (across.rounded(.down), down.rounded(.down))
      let (column, row) = (Int(left), Int(top))
      let upper = sample(column, row) + (sample(column + 1, row) - sample(column, row)) * (across - left)
      let lower = sample(column, row + 1) + (sample(column + 1, row + 1) - sample(column, row + 1)) * (across - left)
      return upper + (lower - upper) * (down - top)
    }
    guard all[1].low == 16 else { return values }
    let (luma, blue, red) = (values[0], values[1] - 127.5, values[2] - 127.5)
    return [luma + 1.402 * red, luma - 0.344136 * blue - 0.714136 * red, luma + 1.772 * blue]
  }

  static let pictures = [
    WebPPicture(), WebPPicture(isLossless: true), WebPPicture(hasAlpha: true),
    WebPPicture(isLossless: true, hasAlpha: true), WebPPicture(size: PixelSize(width: 61, height: 45), partitions: 3),
    WebPPicture(size: PixelSize(width: 61, height: 45), hasAlpha: true),
  ]

  @Test(arguments: pictures.indices) func theHeaderSaysWhatThePictureIs(_ index: Int) throws {
    let picture = Self.pictures[index]
    let header = try Self.header(picture.file())
    #expect(header.type == .webp)
    #expect(header.pixels == picture.size)
    #expect(header.hasAlpha == picture.hasAlpha)
    let isSubsampled = !picture.isLossless && !picture.hasAlpha
    #expect(header.components == (isSubsampled ? .ycc(.bt601, .limited, across: 2, down: 2) : .rgb))
    guard case .webp(let frame) = header.coding else { throw TestFailure("no WebP") }
    #expect(frame.isLossy == !picture.isLossless)
    #expect(frame.isScalable)
    #expect(frame.pixels == picture.size)
    #expect(frame.chunks.count == (picture.hasAlpha && !picture.isLossless ? 2 : 1))
    #expect(header.orientation == .upright)
    #expect(header.color == .unknown)
    #expect(header.remarks.isEmpty)
  }

  /// Averaged here, and scaled by libwebp.
  @Test(arguments: pictures.indices, [false, true]) func planesAreTheMeans(_ index: Int, _ isScaled: Bool) throws {
    let picture = Self.pictures[index]
    if isScaled && picture.isLossless { return }
    let file = picture.file()
    let header = try Self.header(file)
    let scaled = PixelSize(width: 15, height: 11)
    let planes = DecoderCall(
      webP: file, header, scaled: isScaled ? scaled : nil, shrink: isScaled ? 1 : 4, background: 100
    ).decoded()
    #expect(planes.status == CDECODING_OK, "\(planes.message)")
    guard planes.status == CDECODING_OK else { return }
    for (column, row) in [(1, 1), (13, 1), (1, 9), (13, 9), (7, 5)] {
      let found = Self.color(planes, column, row)
      let means = picture.means(column * 4..<column * 4 + 4, row * 4..<row * 4 + 4, background: 100)
      for color in 0..<3 {
        #expect(abs(found[color] - means[color]) <= (picture.isLossless ? 3 : 14), "\(column) \(row) \(color)")
      }
    }
  }

  // MARK: Lossless pictures

  static let lossless: [WebPPicture] = [
    WebPPicture(size: PixelSize(width: 1, height: 1), isLossless: true),
    WebPPicture(size: PixelSize(width: 1, height: 300), isLossless: true, isNoisy: true),
    WebPPicture(size: PixelSize(width: 300, height: 1), isLossless: true, hasAlpha: true),
    // Few colours, of which several indices are in one pixel.
    WebPPicture(size: PixelSize(width: 2, height: 1), isLossless: true),
    WebPPicture(size: PixelSize(width: 3, height: 101), isLossless: true, period: 1),
    WebPPicture(size: PixelSize(width: 15, height: 7), isLossless: true, period: 1),
    WebPPicture(size: PixelSize(width: 201, height: 50), isLossless: true, period: 1),
    WebPPicture(size: PixelSize(width: 331, height: 203), isLossless: true),
    WebPPicture(size: PixelSize(width: 331, height: 203), isLossless: true, quality: 0),
    WebPPicture(size: PixelSize(width: 333, height: 205), isLossless: true, hasAlpha: true, keepsHidden: true),
    WebPPicture(size: PixelSize(width: 417, height: 205), isLossless: true, isNoisy: true),
    WebPPicture(size: PixelSize(width: 417, height: 205), isLossless: true, isNoisy: true, period: 13),
    // More pixels than are kept, of which many are copies of those nearly a million before.
    WebPPicture(
      size: PixelSize(width: 1900, height: 700), isLossless: true, isNoisy: true, hasFewColors: true, period: 512),
  ]

  @Test(arguments: lossless.indices) func eachPixelOfALosslessPictureIsExact(_ index: Int) throws {
    let picture = Self.lossless[index]
    let file = picture.file()
    let planes = DecoderCall(webP: file, try Self.header(file), background: 100).decoded()
    #expect(planes.status == CDECODING_OK, "\(planes.message)")
    guard planes.status == CDECODING_OK else { return }
    let all = (0..<3).map { planes.plane($0) }
    var wrong = 0
    for y in 0..<picture.size.height {
      for x in 0..<picture.size.width {
        let pixel = picture.pixel(x, y)
        for (plane, color) in [pixel.red, pixel.green, pixel.blue].enumerated() {
          let mixed = Double(color * pixel.alpha + 100 * (255 - pixel.alpha)) / 255
          if Int(all[plane][y * picture.size.width + x]) != Int(mixed.rounded()) { wrong += 1 }
        }
      }
    }
    #expect(wrong == 0)
    // Without copies, each pixel takes the seven bits of its noise.
    if picture.hasFewColors { #expect(file.count < picture.size.count * 6 / 8) }
  }

  /// No decoder scales it.
  @Test func aLosslessPictureIsNotScaled() throws {
    let file = WebPPicture(isLossless: true).file()
    let planes = DecoderCall(webP: file, try Self.header(file), scaled: PixelSize(width: 15, height: 11))
    #expect(planes.decoded().status == CDECODING_BAD_CALL)
  }

  @Test func hiddenColoursDoNotShow() throws {
    let picture = WebPPicture(isLossless: true, hasAlpha: true, keepsHidden: true)
    let file = picture.file()
    let planes = DecoderCall(webP: file, try Self.header(file), shrink: 44, background: 9).decoded()
    let means = picture.means(0..<44, 0..<44, background: 9)
    for color in 0..<3 { #expect(abs(Self.color(planes, 0, 0)[color] - means[color]) <= 1) }
  }

  // MARK: Containers

  static let profile = [UInt8](repeating: 7, count: 131)

  @Test func profileAndEXIFAreFound() throws {
    let picture = WebPPicture()
    var structure = Array("II*\0".utf8) + WebPPicture.number(8, 4) + WebPPicture.number(1, 2)
    structure += WebPPicture.number(0x112, 2) + WebPPicture.number(3, 2) + WebPPicture.number(1, 4)
    structure += WebPPicture.number(6, 4) + WebPPicture.number(0, 4)
    for prefix in [[], Array("Exif\0\0".utf8)] {
      let file = WebPPicture.riff([
        WebPPicture.extended(0x28, picture.size), WebPPicture.chunk("ICCP", Self.profile), picture.chunks(),
        WebPPicture.chunk("XMP ", [1, 2, 3]), WebPPicture.chunk("EXIF", prefix + structure),
      ])
      let header = try Self.header(file)
      #expect(header.orientation.rawValue == 6)
      #expect(header.orientedPixels == PixelSize(width: 44, height: 60))
      let exif = try #require(header.exif)
      #expect(Array(file[Int(exif.offset)..<Int(exif.offset + exif.size)]) == structure)
      guard case .profile(let extent) = header.color else { throw TestFailure("no profile") }
      #expect(Array(file[Int(extent.offset)..<Int(extent.offset + extent.size)]) == Self.profile)
      #expect(DecoderCall(webP: file, header).decoded().status == CDECODING_OK)
    }
  }

  /// A file whose flags do not name a block has none.
  @Test func blocksWithoutFlagAreLeftOut() throws {
    let picture = WebPPicture()
    let file = WebPPicture.riff([
      WebPPicture.extended(0, picture.size), WebPPicture.chunk("ICCP", Self.profile), picture.chunks(),
      WebPPicture.chunk("EXIF", [1, 2, 3]),
    ])
    let header = try Self.header(file)
    #expect(header.color == .unknown)
    #expect(header.exif == nil)
  }

  /// libwebp's demuxer, and with it Pillow, libvips and Chrome, show such a picture as opaque.
  @Test func alphaWithoutFlagIsLeftOut() throws {
    let picture = WebPPicture(hasAlpha: true)
    for hasFlag in [true, false] {
      let file = WebPPicture.riff([WebPPicture.extended(hasFlag ? 0x10 : 0, picture.size), picture.chunks()])
      let header = try Self.header(file)
      #expect(header.hasAlpha == hasFlag)
      #expect(DecoderCall(webP: file, header).decoded().status == CDECODING_OK)
    }
  }

  @Test(arguments: [WebPPicture(), WebPPicture(isLossless: true), WebPPicture(hasAlpha: true)].indices)
  func theFirstFrameIsComposedOnItsCanvas(_ index: Int) throws {
    let picture = [WebPPicture(), WebPPicture(isLossless: true), WebPPicture(hasAlpha: true)][index]
    let canvas = PixelSize(width: 100, height: 80)
    let file = WebPPicture.riff([
      WebPPicture.extended(0x12, canvas), WebPPicture.chunk("ANIM", WebPPicture.number(0, 6)),
      WebPPicture.frame(picture.chunks(), x: 20, y: 10, picture.size),
      WebPPicture.frame(picture.chunks(), x: 0, y: 0, picture.size),
    ])
    let header = try Self.header(file)
    #expect(header.pixels == canvas)
    #expect(header.hasAlpha)
    #expect(header.remarks.count == 1)
    let planes = DecoderCall(webP: file, header, shrink: 2, background: 100).decoded()
    #expect(planes.status == CDECODING_OK, "\(planes.message)")
    #expect(Self.color(planes, 9, 20) == [100, 100, 100])
    #expect(Self.color(planes, 30, 4) == [100, 100, 100])
    let means = picture.means(40..<42, 30..<32, background: 100)
    for color in 0..<3 { #expect(abs(Self.color(planes, 30, 20)[color] - means[color]) <= 14) }
    // libwebp would scale the frame, not the canvas.
    let scaled = DecoderCall(webP: file, header, scaled: PixelSize(width: 50, height: 40))
    #expect(scaled.decoded().status == CDECODING_BAD_CALL)
  }

  @Test func aFrameThatCoversItsCanvasCanBeScaled() throws {
    let picture = WebPPicture()
    let file = WebPPicture.riff([
      WebPPicture.extended(0x02, picture.size), WebPPicture.chunk("ANIM", WebPPicture.number(0, 6)),
      WebPPicture.frame(picture.chunks(), x: 0, y: 0, picture.size),
    ])
    let header = try Self.header(file)
    #expect(!header.hasAlpha)
    #expect(header.remarks.isEmpty)
    let planes = DecoderCall(webP: file, header, scaled: PixelSize(width: 30, height: 22)).decoded()
    #expect(planes.status == CDECODING_OK, "\(planes.message)")
  }

  // MARK: What is wrong

  @Test(arguments: pictures.indices) func eachCutEndsWithAReason(_ index: Int) throws {
    let file = Self.pictures[index].file()
    for length in stride(from: 0, to: file.count - 1, by: 13) {
      let cut = Array(file.prefix(length))
      guard let header = try? Self.header(cut) else {
        #expect(throws: FileWindow.endsTooEarly) { try Self.header(cut) }
        continue
      }
      #expect(header.pixels == Self.pictures[index].size)
      let planes = DecoderCall(webP: cut, header, shrink: 3).decoded()
      #expect(planes.status == CDECODING_TRUNCATED, "\(length) of \(file.count): \(planes.message)")
    }
  }

  @Test(
    arguments: [
      WebPPicture.riff([]), WebPPicture.riff([WebPPicture.chunk("VP8 ", [1, 2, 3])]),
      WebPPicture.riff([WebPPicture.chunk("VP8 ", [UInt8](repeating: 0, count: 30))]),
      WebPPicture.riff([WebPPicture.chunk("VP8L", [UInt8](repeating: 0, count: 30))]),
      WebPPicture.riff([WebPPicture.extended(0, PixelSize(width: 61, height: 44)), WebPPicture().chunks()]),
      WebPPicture.riff([
        WebPPicture.extended(2, PixelSize(width: 70, height: 70)),
        WebPPicture.frame(WebPPicture().chunks(), x: 12, y: 0, WebPPicture().size),
      ]),
      WebPPicture.riff([WebPPicture.extended(2, PixelSize(width: 70, height: 70)), WebPPicture.chunk("ANMF", [0])]),
      WebPPicture.riff([
        WebPPicture.extended(2, PixelSize(width: 70, height: 70)),
        WebPPicture.frame(WebPPicture().chunks(), x: 0, y: 0, PixelSize(width: 59, height: 44)),
      ]),
      Array("RIFF\u{4}\0\0\0WAVE".utf8),
    ]) func brokenContainersAreDamaged(_ file: [UInt8])
  {
    #expect { try Self.header(file) } throws: { error in
      if case ThumbnailError.damaged = error { true } else { false }
    }
  }

  @Test func aPictureBehindTooManyChunksIsNamedAsSuch() {
    let texts = Array(repeating: WebPPicture.chunk("teXt", []), count: 2000)
    let file = WebPPicture.riff([WebPPicture.extended(0, WebPPicture().size)] + texts + [WebPPicture().chunks()])
    #expect(throws: ThumbnailError.damaged("no picture in its first 2000 chunks")) { try Self.header(file) }
  }

  @Test func brokenDataIsDamaged() throws {
    for picture in [WebPPicture(isLossless: true), WebPPicture(hasAlpha: true)] {
      var file = picture.file()
      let header = try Self.header(file)
      guard case .webp(let frame) = header.coding else { throw TestFailure("no WebP") }
      // VP8L's codes, or the kind of compression of alpha.
      let start = Int(frame.chunks[0].offset) + 8 + (picture.isLossless ? 6 : 0)
      for index in start..<start + 40 { file[index] = 0xFF }
      let planes = DecoderCall(webP: file, header).decoded()
      #expect(planes.status == CDECODING_DAMAGED)
      #expect(!planes.message.isEmpty)
    }
  }

  /// The file is another than the header was read from.
  @Test func aFrameOfAnotherSizeIsDamaged() throws {
    let file = WebPPicture().file()
    let header = try Self.header(file)
    var planes = DecoderCall(webP: file, header)
    planes.tiles[0].width -= 1
    #expect(planes.decoded().status == CDECODING_DAMAGED)
    planes = DecoderCall(webP: file, header)
    planes.extents[0].size -= 1
    #expect(planes.decoded().status == CDECODING_DAMAGED)
    planes = DecoderCall(webP: file, header)
    planes.extents[0].offset += 2
    #expect(planes.decoded().status == CDECODING_DAMAGED)
    planes = DecoderCall(webP: file, header)
    planes.tiles[0].first_extent = 1
    #expect(planes.decoded().status == CDECODING_BAD_CALL)
  }

  @Test func decodingCanBeCancelled() throws {
    for isLossless in [false, true] {
      let file = WebPPicture(size: PixelSize(width: 600, height: 500), isLossless: isLossless, isNoisy: true).file()
      let header = try Self.header(file)
      for patience in [0, 1] {
        var planes = DecoderCall(webP: file, header)
        planes.patience = patience
        #expect(planes.decoded().status == CDECODING_CANCELLED)
      }
    }
  }

  // MARK: Memory

  static let large: [WebPPicture] = [
    WebPPicture(size: PixelSize(width: 2000, height: 1500), isNoisy: true),
    WebPPicture(size: PixelSize(width: 2000, height: 1500), quality: 30),
    WebPPicture(size: PixelSize(width: 2000, height: 1500), partitions: 3, isNoisy: true),
    WebPPicture(size: PixelSize(width: 1200, height: 900), hasAlpha: true, isNoisy: true),
    WebPPicture(size: PixelSize(width: 1200, height: 900), isLossless: true, isNoisy: true),
    WebPPicture(size: PixelSize(width: 1200, height: 900), isLossless: true, hasAlpha: true),
    WebPPicture(size: PixelSize(width: 16_000, height: 40)),
  ]

  /// Decoding takes at most what the header says, and not much less.
  @Test(.enabled(if: counts_memory(), "a sanitizer's allocator does not count"), arguments: large.indices)
  func memoryIsKnownFromTheHeader(_ index: Int) throws {
    let picture = Self.large[index]
    let file = picture.file()
    let header = try Self.header(file)
    guard case .webp(let frame) = header.coding else { throw TestFailure("no WebP") }
    for divisor in picture.isLossless ? [1] : [1, 4] {
      let scaled = PixelSize(width: picture.size.width / divisor, height: picture.size.height / divisor)
      let planes = DecoderCall(webP: file, header, scaled: scaled, shrink: 4)
      let (status, peak) = planes.memoryTaken()
      #expect(status == CDECODING_OK)
      // Of RGB with alpha there are four sums for three samples.
      let sums = planes.memorySize * 4 * (header.hasAlpha ? 4 : 3) / 3
      let reserved = header.workingBytes + frame.sampleBytes(scaledTo: scaled, hasAlpha: header.hasAlpha) + sums
      #expect(peak <= reserved, "\(picture) scaled to \(scaled)")
      // Memory is counted when libwebp asks for a piece, and a small file has only one.
      if file.count > 200_000 { #expect(peak >= reserved / 3, "\(picture) scaled to \(scaled)") }
    }
  }

  /// Each block of 4 × 4 pixels has its own Huffman codes. What the header says at first holds for 600 of them, and the rest
  /// for as many as libwebp's encoder writes.
  @Test(
    .enabled(if: counts_memory(), "a sanitizer's allocator does not count"),
    arguments: [
      TestVP8L(columns: 30, rows: 20), TestVP8L(columns: 30, rows: 20, cacheBits: 11, hasAllValues: true),
      TestVP8L(columns: 90, rows: 90, hasAllValues: true),
    ])
  func groupsOfHuffmanCodesAreCounted(_ picture: TestVP8L) async throws {
    let file = picture.bytes
    let header = try Self.header(file)
    let decoded = DecoderCall(webP: file, header, shrink: 4).decoded()
    #expect(decoded.status == CDECODING_OK, "\(decoded.message)")
    for (column, row) in [(0, 0), (picture.columns - 1, 0), (3, picture.rows - 1)] {
      #expect(Self.color(decoded, column, row) == picture.color(column, row).map(Double.init))
    }
    guard case .webp(let frame) = header.coding else { throw TestFailure("no WebP") }
    let reserved =
      header.workingBytes + header.sumBytes + frame.sampleBytes(scaledTo: header.pixels, hasAlpha: false)
    let taken = try await header.measuredBytes(of: file, CDECODING_WEBP)
    #expect(taken <= reserved + header.rareBytes)
    let isRare = picture.columns * picture.rows > 600
    #expect((taken > reserved) == isRare)
    #expect((header.rareBytes > 0) == isRare)
  }

  @Test(arguments: 0...3) func partitionsAreCounted(_ logarithm: Int) throws {
    let picture = WebPPicture(size: PixelSize(width: 400, height: 300), partitions: logarithm, isNoisy: true)
    let file = picture.file()
    let header = try Self.header(file)
    guard case .webp(let frame) = header.coding else { throw TestFailure("no WebP") }
    let start = Int(frame.chunks[0].offset) + 18
    #expect(VP8Partitions.count(Array(file[start..<start + VP8Partitions.longest])) == 1 << logarithm)
  }
}

struct TestFailure: Error {
  let message: String
  init(_ message: String) { self.message = message }
}

extension DecoderCall {
  /// How decoding ends, and the bytes that it allocates.
  func memoryTaken() -> (cdecoding_status, Int) {
    var (reply, request) = (cdecoding_reply(), request)
    let peak = decode_counting(&request, tiles, extents, bytes, bytes.count, memorySize, &reply)
    return (reply.status, peak)
  }
}
