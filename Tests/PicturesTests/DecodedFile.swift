import CDecoding
import CPictures
import Thumbnails

@testable import Pictures

/// What `cpictures_decode` makes of a file, by the request that its header leads to: each pixel for itself.
struct DecodedFile {
  let header: PictureHeader
  private let request: DecodeRequest
  private var memory: [UInt8]
  private var reply = cdecoding_reply()

  /// - Throws: ``ThumbnailError`` of the header; also for pictures that are too large for tests.
  init(_ bytes: [UInt8], _ type: ImageType, reduction: Double = 1, background: RGBColor? = nil) throws(ThumbnailError) {
    header = try PictureReader.readHeader(of: ByteReader(bytes: bytes), type: type)
    guard header.pixels.count < 1 << 22 else { throw .tooManyPixels(header.pixels, limit: 1 << 22) }
    let isOpaque = !header.hasAlpha || header.canvas != nil
    request = DecodeRequest(
      header, reduction: reduction, background: isOpaque ? .white : background, failMask: FailOn.error.mask)
    memory = [UInt8](repeating: 0xAA, count: request.memorySize)
    let input = Input(bytes)
    withExtendedLifetime(input) {
      var calls = cpictures_input(
        context: Unmanaged.passUnretained(input).toOpaque(), size: UInt64(bytes.count),
        read: { context, offset, into, capacity in Input.of(context).read(offset, into, capacity) },
        proceed: { _, _ in true })
      var raw = request.request
      cpictures_decode(&raw, request.tiles, request.extents, &calls, &memory, memory.count, &reply)
    }
  }

  var status: cdecoding_status { reply.status }
  var message: String { Self.text(reply.message) }
  var warning: String { Self.text(reply.warnings.2) }

  /// The columns and rows of the planes.
  var size: (columns: Int, rows: Int) { (Int(request.planes[0].columns), Int(request.planes[0].rows)) }

  /// The colours of a pixel, with inks as what is left of white, and its alpha. Colours are not multiplied by alpha.
  func pixel(_ x: Int, _ y: Int) -> (colors: [UInt8], alpha: UInt8) {
    var samples = request.planes.map { memory[Int($0.offset) + y * Int($0.columns) + x] }
    if header.components == .cmyk { samples = samples.prefix(3).map { 255 - $0 } }
    guard request.keepsAlpha else { return (samples, 255) }
    let alpha = memory[Int(request.request.alpha_offset) + y * Int(request.planes[0].columns) + x]
    return (samples.map { alpha == 0 ? 0 : UInt8(min(255, (Int($0) * 255 + Int(alpha) / 2) / Int(alpha))) }, alpha)
  }

  private static func text(_ characters: some Any) -> String {
    withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }

  private final class Input {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    static func of(_ context: UnsafeMutableRawPointer?) -> Input {
      Unmanaged<Input>.fromOpaque(context!).takeUnretainedValue()
    }

    func read(_ offset: UInt64, _ into: UnsafeMutablePointer<UInt8>, _ capacity: Int) -> Int {
      guard offset < UInt64(bytes.count) else { return 0 }
      let part = bytes[Int(offset)...].prefix(capacity)
      _ = UnsafeMutableBufferPointer(start: into, count: capacity).update(fromContentsOf: part)
      return part.count
    }
  }
}
