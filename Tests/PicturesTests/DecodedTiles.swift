import CDecoding
import CPictures
import Foundation
import Pictures
import Thumbnails

/// What `cpictures_decode` makes of a file in memory whose header says tiles, in red, green and blue.
struct DecodedTiles {
  private(set) var reply = cdecoding_reply()
  private(set) var columns = 0
  private(set) var rows = 0
  private var planes: [[UInt8]] = []
  private let header: PictureHeader

  /// libde265 initialises tables when the first decoder is made, which is not safe in several threads at once. A decoder
  /// process has only one.
  private static let lock = NSLock()

  /// Decodes into means of `shrink` × `shrink` pixels, an even number. Transparent is white.
  init(_ header: PictureHeader, in bytes: [UInt8], shrink: Int = 4, failOn: FailOn = .error) {
    self.header = header
    guard case .tiles(let codec, let pictureTiles) = header.coding else { return }
    var request = cdecoding_request()
    request.kind = codec == .hevc ? CDECODING_HEVC : CDECODING_AV1
    (request.width, request.height) = (UInt32(header.pixels.width), UInt32(header.pixels.height))
    request.fail_mask = failOn.mask
    request.is_premultiplied = header.isPremultiplied
    request.is_overlay = header.canvas != nil
    request.is_gbr = header.components == .rgb
    let (across, down, count) =
      switch header.components {
      // Where pixels are weighted, chroma has a sample for each of them.
      case .ycc(_, _, let across, let down): header.hasAlpha || header.canvas != nil ? (1, 1, 3) : (across, down, 3)
      case .grey: (1, 1, 1)
      default: (1, 1, 3)
      }
    var laidOut: [cdecoding_plane] = []
    var size = 0
    for index in 0..<count {
      let (stepX, stepY) = index == 0 ? (1, 1) : (across, down)
      let (width, height) = ((header.pixels.width - 1) / stepX + 1, (header.pixels.height - 1) / stepY + 1)
      let (shrinkX, shrinkY) = (shrink / stepX, shrink / stepY)
      let (columns, rows) = ((width - 1) / shrinkX + 1, (height - 1) / shrinkY + 1)
      laidOut.append(
        cdecoding_plane(
          width: UInt32(width), height: UInt32(height), shrink_x: UInt32(shrinkX), shrink_y: UInt32(shrinkY),
          columns: UInt32(columns), rows: UInt32(rows), low: 0, high: 255, offset: UInt64(size)))
      size += columns * rows
    }
    (columns, rows) = (Int(laidOut[0].columns), Int(laidOut[0].rows))
    let none = cdecoding_plane()
    request.plane_count = UInt32(count)
    request.planes = (laidOut[0], count > 1 ? laidOut[1] : none, count > 2 ? laidOut[2] : none, none)
    let neutral: UInt8 = header.components == .rgb ? 255 : 128
    // Only a grey canvas is tested.
    request.background = (header.canvas?.green ?? 255, neutral, neutral, 0)
    var extents: [cdecoding_extent] = []
    let tiles = pictureTiles.map { tile in
      defer { extents += tile.data.map { cdecoding_extent(offset: $0.offset, size: $0.size) } }
      return cdecoding_tile(
        x: Int32(tile.x), y: Int32(tile.y), width: UInt32(tile.pixels.width), height: UInt32(tile.pixels.height),
        first_extent: UInt32(extents.count), extent_count: UInt32(tile.data.count),
        configuration: cdecoding_extent(offset: tile.configuration.offset, size: tile.configuration.size),
        is_alpha: tile.isAlpha, shown_layer: tile.layer.map { UInt8($0 + 1) } ?? 0)
    }
    (request.tile_count, request.extent_count) = (UInt32(tiles.count), UInt32(extents.count))
    var memory = [UInt8](repeating: 0xAA, count: size)
    Self.lock.withLock {
      bytes.withUnsafeBytes { buffer in
        var context = buffer
        withUnsafeMutablePointer(to: &context) { pointer in
          var input = cpictures_input(
            context: pointer, size: UInt64(bytes.count),
            read: { context, offset, into, capacity in
              guard let buffer = context?.load(as: UnsafeRawBufferPointer.self), offset < buffer.count else { return 0 }
              let part = buffer[Int(offset)...].prefix(capacity)
              UnsafeMutableRawBufferPointer(start: into, count: capacity).copyBytes(from: part)
              return part.count
            },
            proceed: { _, _ in true })
          cpictures_decode(&request, tiles, extents, &input, &memory, size, &reply)
        }
      }
    }
    planes = laidOut.map { Array(memory[Int($0.offset)..<Int($0.offset) + Int($0.columns * $0.rows)]) }
  }

  var status: cdecoding_status { reply.status }

  var message: String {
    withUnsafeBytes(of: reply.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }

  /// Red, green and blue of a place of the planes.
  func color(_ column: Int, _ row: Int) -> [Double] {
    let values = planes.map { Double($0[row * columns + column]) }
    switch header.components {
    case .ycc:
      let (luma, blue, red) = (values[0], values[1] - 128, values[2] - 128)
      return [luma + 1.402 * red, luma - 0.344136 * blue - 0.714136 * red, luma + 1.772 * blue]
    case .grey: return [values[0], values[0], values[0]]
    default: return values
    }
  }

  /// The largest difference of a place's colour from an expected one.
  func error(_ column: Int, _ row: Int, from expected: [Double]) -> Double {
    guard status == CDECODING_OK else { return 1000 }
    return zip(color(column, row), expected).map { abs($0 - $1) }.max() ?? 1000
  }
}

extension PictureHeader {
  /// The header of a HEIF file in memory.
  static func heif(_ bytes: [UInt8]) throws(ThumbnailError) -> PictureHeader {
    try HEIFReader.header(of: FileWindow(ByteReader(bytes: bytes)))
  }
}
