import Thumbnails

/// What a codestream says before its data, and of its tile-parts.
struct JP2Codestream {
  let grid: JP2Grid
  private(set) var style: JP2Style
  /// The resolution levels that each component of each tile has.
  private(set) var levels: Int
  /// The bytes of the file, with an index of it, that OpenJPEG keeps at once.
  private(set) var heldBytes = 0
  /// Whether the packets' headers are apart from their data. OpenJPEG copies these.
  private var hasPackedHeaders = false

  private enum Marker {
    static let sot = 0xFF90
    static let siz = 0xFF51
    static let cod = 0xFF52
    static let coc = 0xFF53
    static let ppm = 0xFF60
    static let ppt = 0xFF61
    static let sod = 0xFF93
  }

  private static let mostSegments = 2000
  /// A file with more tile-parts counts as one whose parts OpenJPEG keeps all. Each takes a read.
  private static let mostTileParts = 1024

  init(_ extent: FileExtent, _ reader: BoxReader) throws(ThumbnailError) {
    let start = try Self.fields(reader, extent, at: 0, count: 4)
    guard bigEndian(start[0..<2]) == 0xFF4F, bigEndian(start[2..<4]) == Marker.siz else {
      throw .damaged("its codestream does not begin with its size")
    }
    var segment = try Self.segment(reader, extent, at: 2)
    grid = try JP2Grid(&segment.fields)
    style = JP2Style(components: Array(repeating: JP2Style.Component(), count: grid.components.count))
    levels = 0
    var position = segment.end
    var (hasStyle, own) = (false, Set<Int>())
    var isAtTiles = false
    for _ in 0..<Self.mostSegments {
      segment = try Self.segment(reader, extent, at: position)
      if segment.marker == Marker.sot {
        isAtTiles = true
        break
      }
      guard segment.marker >= 0xFF00 else { throw .damaged("no marker begins where one should") }
      switch segment.marker {
      case Marker.cod:
        let whole = try readStyle(&segment.fields)
        for index in style.components.indices where !own.contains(index) { style.components[index] = whole }
        hasStyle = true
      case Marker.coc:
        let (index, component) = try readComponentStyle(&segment.fields)
        guard index < style.components.count else { break }
        style.components[index] = component
        own.insert(index)
      case Marker.ppm: hasPackedHeaders = true
      default: break
      }
      position = segment.end
    }
    guard isAtTiles, hasStyle else { throw .damaged("its header has no coding style, or is too long") }
    levels = style.components.map(\.levels).min() ?? 0
    heldBytes = Int(clamping: position) * (hasPackedHeaders ? 3 : 1)
    try readTileParts(reader, extent, at: position)
  }

  /// The first bytes at a position of the codestream.
  private static func fields(
    _ reader: BoxReader, _ extent: FileExtent, at position: UInt64, count: UInt64
  ) throws(ThumbnailError) -> [UInt8] {
    guard position <= extent.size, count <= extent.size - position else { throw FileWindow.endsTooEarly }
    return Array(try reader.bytes(FileExtent(offset: extent.offset + position, size: count), atMost: 64 << 10))
  }

  private struct Segment {
    let marker: Int
    var fields: BoxFields
    let end: UInt64
  }

  /// A marker segment. Of those that do not matter, the fields are left out.
  private static func segment(
    _ reader: BoxReader, _ extent: FileExtent, at position: UInt64
  ) throws(ThumbnailError) -> Segment {
    let head = try fields(reader, extent, at: position, count: 4)
    let (marker, length) = (bigEndian(head[0..<2]), bigEndian(head[2..<4]))
    guard length >= 2 else { throw .damaged("a marker segment has no length") }
    var contents: [UInt8] = []
    if [Marker.siz, Marker.cod, Marker.coc].contains(marker) {
      contents = try fields(reader, extent, at: position + 4, count: UInt64(length - 2))
    }
    return Segment(marker: marker, fields: BoxFields(contents[...]), end: position + 2 + UInt64(length))
  }

  /// Reads the contents of COD.
  private mutating func readStyle(_ fields: inout BoxFields) throws(ThumbnailError) -> JP2Style.Component {
    let flags = try fields.u8()
    try fields.skip(1)
    style.layers = max(style.layers, try fields.u16())
    try fields.skip(1)
    return try JP2Style.Component(&fields, hasPrecincts: flags & 1 != 0)
  }

  /// Reads the contents of COC.
  private func readComponentStyle(_ fields: inout BoxFields) throws(ThumbnailError) -> (Int, JP2Style.Component) {
    let index = grid.components.count < 257 ? try fields.u8() : try fields.u16()
    let flags = try fields.u8()
    return (index, try JP2Style.Component(&fields, hasPrecincts: flags & 1 != 0))
  }

  /// Follows the tile-parts (A.4.2). OpenJPEG decodes a tile when it has all of its parts, and keeps those of the others until
  /// then.
  private mutating func readTileParts(
    _ reader: BoxReader, _ extent: FileExtent, at start: UInt64
  ) throws(ThumbnailError) {
    let size: UInt64 = 12
    var position = start
    var (held, mostHeld, longest): (UInt64, UInt64, UInt64) = (0, 0, 0)
    var parts = 0
    var bytesOfTile: [Int: UInt64] = [:]
    while parts < Self.mostTileParts {
      guard extent.size - min(position, extent.size) >= size else { break }
      let head = try Self.fields(reader, extent, at: position, count: size)
      guard bigEndian(head[0..<2]) == Marker.sot else { break }
      parts += 1
      let (tile, length) = (bigEndian(head[4..<6]), UInt64(bigEndian(head[6..<10])))
      try readTileHeader(reader, extent, at: position + size)
      // An open length is that of the rest.
      let isLast = length == 0 || length > extent.size - position
      let taken = isLast ? extent.size - position : max(length, size)
      held += taken
      mostHeld = max(mostHeld, held)
      if let before = bytesOfTile[tile] { longest = max(longest, before + taken) }
      bytesOfTile[tile, default: 0] += taken
      // The number of parts, if this one says it.
      if head[11] != 0, Int(head[10]) + 1 == Int(head[11]) { held -= bytesOfTile.removeValue(forKey: tile) ?? 0 }
      position += taken
      if isLast { break }
    }
    if parts == Self.mostTileParts { mostHeld = extent.size }
    if hasPackedHeaders { mostHeld = mostHeld > UInt64.max / 3 ? .max : mostHeld * 3 }
    // A tile's data may be copied when another part of it follows.
    heldBytes += Int(clamping: min(mostHeld, 1 << 60)) + Int(clamping: min(longest, 1 << 60)) + 64 * parts
  }

  /// Looks for a coding style in the header of a tile-part; how often the samples are halved may differ.
  private mutating func readTileHeader(
    _ reader: BoxReader, _ extent: FileExtent, at start: UInt64
  ) throws(ThumbnailError) {
    var position = start
    for _ in 0..<16 {
      guard extent.size - min(position, extent.size) >= 4 else { return }
      let head = try Self.fields(reader, extent, at: position, count: 4)
      guard bigEndian(head[0..<2]) != Marker.sod, bigEndian(head[2..<4]) >= 2 else { return }
      var segment = try Self.segment(reader, extent, at: position)
      switch segment.marker {
      case Marker.cod: levels = min(levels, try readStyle(&segment.fields).levels)
      case Marker.coc: levels = min(levels, try readComponentStyle(&segment.fields).1.levels)
      case Marker.ppt: hasPackedHeaders = true
      default: break
      }
      position = segment.end
    }
  }
}
