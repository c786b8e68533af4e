import CDecoding
import CPictures
import Thumbnails

@testable import Pictures

/// A call of `cpictures_decode`: the request for a picture in memory, and what comes of it.
struct DecoderCall {
  var request = cdecoding_request()
  var tiles: [cdecoding_tile] = []
  var extents: [cdecoding_extent] = []
  let bytes: [UInt8]
  private(set) var reply = cdecoding_reply()
  private(set) var memory: [UInt8] = []
  /// The calls of `proceed` after which it says no.
  var patience = Int.max
  /// What the file has at a place from the second read on that reaches it.
  var change: (place: Int, bytes: [UInt8])?

  /// - parameter scaled: WebP: the size to which its decoder scales.
  init(
    _ bytes: [UInt8], _ kind: cdecoding_kind, _ size: PixelSize, planes: Int, scaled: PixelSize? = nil, shrink: Int = 1,
    halvesChroma: Bool = false, background: [UInt8] = [255, 255, 255, 0]
  ) {
    self.bytes = bytes
    let scaled = scaled ?? size
    request.kind = kind
    (request.width, request.height) = (UInt32(size.width), UInt32(size.height))
    (request.scaled_width, request.scaled_height) = (UInt32(scaled.width), UInt32(scaled.height))
    request.plane_count = UInt32(planes)
    request.background = (background[0], background[1], background[2], background[3])
    var offset = 0
    let all = (0..<4).map { index in
      guard index < planes else { return cdecoding_plane() }
      let isHalf = halvesChroma && index > 0
      let (width, height) = isHalf ? ((scaled.width + 1) / 2, (scaled.height + 1) / 2) : (scaled.width, scaled.height)
      let (columns, rows) = ((width - 1) / shrink + 1, (height - 1) / shrink + 1)
      defer { offset += columns * rows }
      return cdecoding_plane(
        width: UInt32(width), height: UInt32(height), shrink_x: UInt32(shrink), shrink_y: UInt32(shrink),
        columns: UInt32(columns), rows: UInt32(rows), low: halvesChroma ? 16 : 0,
        high: halvesChroma ? (index == 0 ? 235 : 240) : 255, offset: UInt64(offset))
    }
    request.planes = (all[0], all[1], all[2], all[3])
    memory = [UInt8](repeating: 0, count: offset)
  }

  /// A file with the request that its header leads to.
  init(_ bytes: [UInt8], _ request: DecodeRequest) {
    self.bytes = bytes
    (self.request, tiles, extents) = (request.request, request.tiles, request.extents)
    memory = [UInt8](repeating: 0xAA, count: request.memorySize)
  }

  /// A WebP file, of which the header says where its first frame is.
  init(webP bytes: [UInt8], _ header: PictureHeader, scaled: PixelSize? = nil, shrink: Int = 1, background: UInt8 = 255)
  {
    guard case .webp(let frame) = header.coding else { preconditionFailure("not a WebP picture") }
    var halvesChroma = false
    if case .ycc = header.components { halvesChroma = true }
    self.init(
      bytes, CDECODING_WEBP, header.pixels, planes: 3, scaled: scaled, shrink: shrink, halvesChroma: halvesChroma,
      background: [background, background, background, 0])
    extents = frame.chunks.map { cdecoding_extent(offset: $0.offset, size: $0.size) }
    var tile = cdecoding_tile()
    (tile.x, tile.y) = (Int32(frame.x), Int32(frame.y))
    (tile.width, tile.height) = (UInt32(frame.pixels.width), UInt32(frame.pixels.height))
    tile.extent_count = UInt32(extents.count)
    tiles = [tile]
    (request.tile_count, request.extent_count) = (1, UInt32(extents.count))
  }

  /// Asks for a plane of alpha after the others.
  mutating func keepAlpha() {
    request.keeps_alpha = true
    request.alpha_offset = UInt64(memory.count)
    memory += [UInt8](repeating: 0, count: plane(0).count)
  }

  /// The plane of alpha.
  var alpha: [UInt8] { Array(memory[Int(request.alpha_offset)...]) }

  var memorySize: Int { memory.count }
  var status: cdecoding_status { reply.status }
  var message: String { Self.text(reply.message) }
  var warning: String { Self.text(reply.warnings.2) }
  /// What is wrong with samples, if the request tolerates that.
  var damage: String { Self.text(reply.warnings.1) }

  private static func text<Characters>(_ characters: Characters) -> String {
    withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }

  /// The samples of a plane.
  func plane(_ index: Int) -> [UInt8] {
    let plane = [request.planes.0, request.planes.1, request.planes.2, request.planes.3][index]
    let start = Int(plane.offset)
    return Array(memory[start..<start + Int(plane.columns) * Int(plane.rows)])
  }

  /// What the decoder's input is.
  private final class Source {
    var bytes: [UInt8]
    var patience: Int
    var change: (place: Int, bytes: [UInt8])?

    init(_ call: DecoderCall) { (bytes, patience, change) = (call.bytes, call.patience, call.change) }

    func read(_ offset: Int, into: UnsafeMutablePointer<UInt8>, _ capacity: Int) -> Int {
      guard offset < bytes.count else { return 0 }
      let part = bytes[offset...].prefix(capacity)
      part.withUnsafeBufferPointer { into.update(from: $0.baseAddress!, count: $0.count) }
      if let change, part.indices.contains(change.place) {
        bytes.replaceSubrange(change.place..<change.place + change.bytes.count, with: change.bytes)
        self.change = nil
      }
      return part.count
    }
  }

  mutating func decode() {
    let source = Source(self)
    withExtendedLifetime(source) {
      var input = cpictures_input(
        context: Unmanaged.passUnretained(source).toOpaque(), size: UInt64(bytes.count),
        read: { context, offset, into, capacity in
          guard let context else { return -1 }
          let source = Unmanaged<Source>.fromOpaque(context).takeUnretainedValue()
          return source.read(Int(clamping: offset), into: into, capacity)
        },
        proceed: { context, _ in
          guard let context else { return false }
          let source = Unmanaged<Source>.fromOpaque(context).takeUnretainedValue()
          source.patience -= 1
          return source.patience >= 0
        })
      let count = memory.count
      memory.withUnsafeMutableBufferPointer { target in
        cpictures_decode(&request, tiles, extents, &input, target.baseAddress!, count, &reply)
      }
    }
  }

  func decoded() -> DecoderCall {
    var copy = self
    copy.decode()
    return copy
  }
}
