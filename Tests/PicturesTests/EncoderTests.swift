#if os(Linux) && Formats
import CDecoding
import CEncoders
import TestSupport
import Testing
import Thumbnails

@testable import Pictures

/// `cencoders_encode`: pictures of all shapes, metadata, and requests that contradict themselves.
@Suite(.timeLimit(.minutes(2)))
struct EncoderTests {
  /// A request with its memory, and what comes of it.
  struct Call {
    var request = cencoding_request()
    private(set) var memory: [UInt8] = []
    private(set) var reply = cdecoding_reply()
    private(set) var file: [UInt8] = []
    private(set) var planes: [[UInt8]] = []

    init(
      _ format: cencoding_format, _ width: Int, _ height: Int, _ samples: cencoding_samples, halvesChroma: Bool = false,
      hasAlpha: Bool = false, exif: [UInt8] = [], profile: [UInt8] = [], capacity: Int? = nil, seed: UInt64 = 1
    ) {
      var random = SplitMix(seed: seed)
      request.format = format
      (request.width, request.height, request.samples) = (UInt32(width), UInt32(height), samples)
      (request.has_alpha, request.effort) = (hasAlpha, 3)
      request.quality = format == CENCODING_AVIF ? 10 : 90
      let colors = samples == CENCODING_GREY ? 1 : 3
      var all: [cencoding_plane] = []
      for index in 0..<colors + (hasAlpha ? 1 : 0) {
        let isHalf = halvesChroma && (1...2).contains(index)
        let (columns, rows) = isHalf ? ((width + 1) / 2, (height + 1) / 2) : (width, height)
        all.append(cencoding_plane(offset: UInt64(memory.count), columns: UInt32(columns), rows: UInt32(rows)))
        let base = UInt8(truncatingIfNeeded: random.next() % 200)
        let plane = (0..<columns * rows).map { base + UInt8(($0 % columns) % 8 + ($0 / columns) % 5) }
        planes.append(plane)
        memory += plane
      }
      while all.count < 4 { all.append(cencoding_plane()) }
      request.planes = (all[0], all[1], all[2], all[3])
      request.exif = append(exif)
      request.profile = append(profile)
      request.file = append([UInt8](repeating: 0, count: capacity ?? (width * height * 6 + 4096)))
    }

    private mutating func append(_ bytes: [UInt8]) -> cdecoding_extent {
      defer { memory += bytes }
      return cdecoding_extent(offset: UInt64(memory.count), size: UInt64(bytes.count))
    }

    var message: String {
      withUnsafeBytes(of: reply.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    /// - Parameter missing: the bytes that the memory lacks.
    mutating func encode(missing: Int = 0) {
      var progress = cencoding_progress(context: nil, advance: { _, done in precondition((0...1).contains(done)) })
      let count = memory.count - missing
      memory.withUnsafeMutableBufferPointer { bytes in
        cencoders_encode(&request, &progress, bytes.baseAddress!, count, &reply)
      }
      let start = Int(request.file.offset)
      file = Array(memory[start..<start + Int(reply.file_size)])
    }

    func encoded() -> Call {
      var copy = self
      copy.encode()
      return copy
    }
  }

  static let sizes = [(1, 1), (1, 2), (2, 1), (3, 3), (17, 5), (64, 48), (1, 4000), (4000, 1)]
  static let formats = [CENCODING_WEBP.rawValue, CENCODING_AVIF.rawValue, CENCODING_PNG.rawValue]

  private static func header(_ file: [UInt8], _ type: ImageType) throws -> PictureHeader {
    try PictureReader.readHeader(of: ByteReader(bytes: file), type: type)
  }

  private static func type(_ format: UInt32) -> ImageType {
    format == CENCODING_WEBP.rawValue ? .webp : format == CENCODING_AVIF.rawValue ? .avif : .png
  }

  @Test(arguments: formats, [false, true])
  func picturesOfAllShapesAreWritten(format: UInt32, hasAlpha: Bool) throws {
    for (width, height) in Self.sizes {
      for samples in [CENCODING_GREY, CENCODING_YCC, CENCODING_RGB] {
        let isPNG = format == CENCODING_PNG.rawValue
        if isPNG == (samples == CENCODING_YCC), samples != CENCODING_GREY { continue }
        let call = Call(
          cencoding_format(format), width, height, samples, halvesChroma: samples == CENCODING_YCC, hasAlpha: hasAlpha
        ).encoded()
        #expect(call.reply.status == CDECODING_OK, "\(width) × \(height): \(call.message)")
        let header = try Self.header(call.file, Self.type(format))
        #expect(header.pixels == PixelSize(width: width, height: height))
        #expect(header.hasAlpha == hasAlpha)
      }
    }
  }

  @Test func samplesOfPNGStay() throws {
    for hasAlpha in [false, true] {
      let call = Call(CENCODING_PNG, 37, 23, CENCODING_RGB, hasAlpha: hasAlpha).encoded()
      var decoding = DecoderCall(
        call.file, CDECODING_PNG, PixelSize(width: 37, height: 23), planes: 3, background: [0, 0, 0, 0])
      if hasAlpha { decoding.keepAlpha() }
      let decoded = decoding.decoded()
      #expect(decoded.status == CDECODING_OK, "\(decoded.message)")
      #expect(!hasAlpha || decoded.alpha == call.planes[3])
      for index in 0..<3 {
        let expected = zip(call.planes[index], hasAlpha ? call.planes[3] : [UInt8](repeating: 255, count: 37 * 23)).map
        {
          UInt8((Double($0) * Double($1) / 255).rounded())
        }
        #expect(decoded.plane(index) == expected)
      }
    }
  }

  @Test func samplesOfLosslessWebPStay() throws {
    var call = Call(CENCODING_WEBP, 37, 23, CENCODING_RGB)
    call.request.is_lossless = true
    call.encode()
    let header = try Self.header(call.file, .webp)
    let decoded = DecoderCall(webP: call.file, header).decoded()
    #expect(decoded.status == CDECODING_OK, "\(decoded.message)")
    for index in 0..<3 { #expect(decoded.plane(index) == call.planes[index]) }
  }

  @Test func lossyWebPLooksAlike() throws {
    let call = Call(CENCODING_WEBP, 64, 48, CENCODING_YCC, halvesChroma: true).encoded()
    let decoded = DecoderCall(webP: call.file, try Self.header(call.file, .webp)).decoded()
    #expect(decoded.status == CDECODING_OK, "\(decoded.message)")
    for index in 0..<3 {
      let (made, wanted) = (decoded.plane(index), call.planes[index])
      #expect(made.count == wanted.count)
      #expect(zip(made, wanted).allSatisfy { abs(Int($0) - Int($1)) <= 8 })
    }
  }

  @Test(arguments: formats)
  func metadataIsWritten(format: UInt32) throws {
    let exif = Array("II".utf8) + [42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]
    var profile = [UInt8](repeating: 0, count: 132)
    profile[3] = 132
    profile.replaceSubrange(12..<24, with: "mntrRGB XYZ ".utf8)
    profile.replaceSubrange(36..<40, with: "acsp".utf8)
    (profile[8], profile[9]) = (4, 0x30)
    // The illuminant D50.
    profile.replaceSubrange(68..<80, with: [0, 0, 0xF6, 0xD6, 0, 1, 0, 0, 0, 0, 0xD3, 0x2D])
    let samples = format == CENCODING_PNG.rawValue ? CENCODING_RGB : CENCODING_YCC
    let call = Call(
      cencoding_format(format), 16, 16, samples, halvesChroma: samples == CENCODING_YCC, exif: exif, profile: profile
    ).encoded()
    #expect(call.reply.status == CDECODING_OK, "\(call.message)")
    let header = try Self.header(call.file, Self.type(format))
    #expect(header.exif != nil)
    #expect(format == CENCODING_PNG.rawValue || call.file.firstRange(of: profile) != nil)
    if case .unknown = header.color { Issue.record("the profile is missing") }
  }

  @Test(arguments: formats)
  func aFileThatDoesNotFitIsRefused(format: UInt32) {
    let samples = format == CENCODING_PNG.rawValue ? CENCODING_RGB : CENCODING_YCC
    for capacity in [0, 1, 11, 12, 29, 30, 60, 100] {
      let call = Call(
        cencoding_format(format), 64, 64, samples, halvesChroma: samples == CENCODING_YCC, capacity: capacity, seed: 9
      ).encoded()
      #expect(call.reply.status == CDECODING_NO_MEMORY && call.file.isEmpty, "\(capacity): \(call.message)")
    }
  }

  @Test(arguments: formats)
  func aRequestThatContradictsItselfIsRefused(format: UInt32) {
    let samples = format == CENCODING_PNG.rawValue ? CENCODING_RGB : CENCODING_YCC
    let call = Call(cencoding_format(format), 64, 48, samples, halvesChroma: samples == CENCODING_YCC, hasAlpha: true)
    let changes: [(inout cencoding_request) -> Void] = [
      { $0.width = 0 }, { $0.width = 65 }, { $0.height = 47 }, { $0.height = .max }, { $0.effort = 10 },
      { $0.planes.0.offset = .max }, { $0.planes.1.columns = 31 }, { $0.planes.3.rows = 24 },
      { $0.planes.2.offset = 1 << 40 }, { $0.exif = cdecoding_extent(offset: .max, size: 2) },
      { $0.profile.size = .max }, { $0.file.size += 1 }, { $0.samples = cencoding_samples(9) },
      { $0.format = cencoding_format(77) },
    ]
    for (index, change) in changes.enumerated() {
      var wrong = call
      change(&wrong.request)
      wrong.encode()
      #expect(wrong.reply.status == CDECODING_BAD_CALL && wrong.file.isEmpty, "change \(index): \(wrong.message)")
    }
    var short = call
    short.encode(missing: 1)
    #expect(short.reply.status == CDECODING_BAD_CALL)
  }
}
#endif
