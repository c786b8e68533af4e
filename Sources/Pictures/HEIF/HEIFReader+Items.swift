import CDecoding
import Thumbnails

extension HEIFReader {
  /// What the properties of an item say together.
  struct Properties {
    var size: PixelSize?
    var steps: [PictureGeometry.Step] = []
    var configuration: (codec: PictureHeader.TileCodec, record: FileExtent, format: CodedFormat)?
    var color = StoredPicture.ColorProperties()
    var auxiliaryType: String?
    /// The layer that is shown; nil for the last one.
    var layer: Int?

    mutating func add(_ property: ItemProperty) {
      switch property {
      case .size(let size): self.size = size
      case .step(let step): steps.append(step)
      case .configuration(let codec, let record, let format): configuration = (codec, record, format)
      case .codePoints(let points): color.codePoints = color.codePoints ?? points
      case .profile(let profile): color.profile = color.profile ?? profile
      case .auxiliaryType(let type): auxiliaryType = type
      case .layer(let layer): self.layer = layer
      case .irrelevant, .unknown: break
      }
    }
  }

  private static let mostTiles = 16_384
  /// The most parts of all coded pictures together, each of 16 bytes in memory.
  private static let mostExtents = 65_536
  /// The largest side of a coded picture in both codecs.
  private static let longestTileSide = 65_536
  /// How often a picture may be derived from a derived one.
  private static let mostDerivations = 4

  mutating func itemProperties(of id: UInt32) throws(ThumbnailError) -> Properties {
    var all = Properties()
    for association in table.items[id]?.properties ?? [] {
      let property = try property(association.index)
      if case .unknown(let type) = property, association.isEssential {
        throw .unsupported("a picture with the property “\(type)”")
      }
      all.add(property)
    }
    return all
  }

  private mutating func property(_ index: Int) throws(ThumbnailError) -> ItemProperty {
    if let known = properties[index] { return known }
    guard index <= table.properties.count else {
      throw .damaged("a description that its header refers to is missing (property \(index))")
    }
    let property = try ItemProperty(table.properties[index - 1], reader)
    properties[index] = property
    return property
  }

  /// The picture of an item, with its own properties applied.
  mutating func storedPicture(of id: UInt32, derivations: Int = 0) throws(ThumbnailError) -> StoredPicture {
    guard let item = table.items[id] else {
      throw .damaged("a picture or block that its header refers to is missing (item \(id))")
    }
    guard derivations <= Self.mostDerivations else { throw .damaged("a picture is made of itself") }
    let properties = try itemProperties(of: id)
    var picture: StoredPicture
    switch item.type {
    case "hvc1", "hev1": picture = try codedPicture(id, .hevc, properties)
    case "av01": picture = try codedPicture(id, .av1, properties)
    case "grid": picture = try grid(id, derivations)
    case "iovl": picture = try overlay(id, derivations)
    case "iden": picture = try identity(id, derivations)
    default: throw .unsupported("a picture of the type “\(item.type)”")
    }
    if properties.color.codePoints != nil { picture.color.codePoints = properties.color.codePoints }
    if properties.color.profile != nil { picture.color.profile = properties.color.profile }
    for step in properties.steps { try picture.geometry.apply(step) }
    return picture
  }

  private mutating func codedPicture(
    _ id: UInt32, _ codec: PictureHeader.TileCodec, _ properties: Properties
  ) throws(ThumbnailError) -> StoredPicture {
    guard let pixels = properties.size, let configuration = properties.configuration, configuration.codec == codec
    else {
      throw .damaged("it does not say how large a picture is, or how to decode it")
    }
    guard max(pixels.width, pixels.height) <= Self.longestTileSide else {
      throw .damaged("a picture of \(pixels.width) × \(pixels.height) pixels")
    }
    let data = try table.data(of: id)
    extentCount += data.count
    guard extentCount <= Self.mostExtents else { throw .unsupported("pictures in more than \(Self.mostExtents) parts") }
    var format = try configuration.format.completed(codec, by: data, reader)
    var tile = PictureTile(x: 0, y: 0, pixels: pixels, data: data, configuration: configuration.record)
    if let layer = properties.layer {
      // An AV1 picture has up to four layers. Of HEVC's, only the first is decoded.
      guard layer < (codec == .av1 ? 4 : 1) else { throw .unsupported("layer \(layer) of a picture") }
      if codec == .av1 { tile.layer = layer }
      // The layers before it, and those that they are made from.
      format.picturesHeld = max(format.picturesHeld, layer + 2)
    }
    return try StoredPicture(tile, codec: codec, format: format, color: properties.color)
  }

  // MARK: Derived pictures (ISO/IEC 23008-12, 6.6.2)

  private mutating func identity(_ id: UInt32, _ derivations: Int) throws(ThumbnailError) -> StoredPicture {
    let sources = table.references("dimg", from: id)
    guard sources.count == 1 else {
      throw .damaged("a picture that repeats another one names \(sources.count) of them")
    }
    return try storedPicture(of: sources[0], derivations: derivations + 1)
  }

  /// The fields of a derived picture: its version and flags, and what follows.
  private func derivation(_ id: UInt32) throws(ThumbnailError) -> (flags: Int, fields: BoxFields) {
    let data = try table.data(of: id)
    guard data.count == 1 else { throw .unsupported("a picture made of others, with instructions in several parts") }
    var fields = try reader.fields(data[0], atMost: 1 << 20)
    guard try fields.u8() == 0 else {
      throw .unsupported("a picture made of others, with instructions of an unknown version")
    }
    return (try fields.u8(), fields)
  }

  /// A picture that others make up, without gaps and in equal sizes.
  private mutating func grid(_ id: UInt32, _ derivations: Int) throws(ThumbnailError) -> StoredPicture {
    var (flags, fields) = try derivation(id)
    let (rows, columns) = (try fields.u8() + 1, try fields.u8() + 1)
    let numberSize = flags & 1 == 0 ? 2 : 4
    let pixels = PixelSize(width: Int(try fields.number(numberSize)), height: Int(try fields.number(numberSize)))
    let sources = table.references("dimg", from: id)
    guard sources.count == rows * columns else {
      throw .damaged("\(sources.count) tiles for \(rows) rows and \(columns) columns")
    }
    guard sources.count <= Self.mostTiles else { throw .unsupported("a grid of \(sources.count) pictures") }
    let first = try part(sources[0], derivations)
    let (width, height) = (first.pixels.width, first.pixels.height)
    // The pictures reach the edges, and none is beyond them.
    guard (columns - 1) * width < pixels.width, pixels.width <= columns * width, (rows - 1) * height < pixels.height,
      pixels.height <= rows * height
    else { throw .damaged("its tiles do not cover the picture exactly") }
    if let chroma = first.format.chroma {
      guard columns == 1 || width % chroma.across == 0, rows == 1 || height % chroma.down == 0 else {
        throw .unsupported("a grid of pictures with an odd size")
      }
    }
    var tiles: [PictureTile] = []
    tiles.reserveCapacity(sources.count)
    for (index, source) in sources.enumerated() {
      let part = index == 0 ? first : try part(source, derivations)
      guard part.pixels == first.pixels, part.isCoded(like: first) else {
        throw .damaged("its tiles differ in their form")
      }
      tiles.append(part.tile(x: index % columns * width, y: index / columns * height))
    }
    return try StoredPicture(tiles, of: pixels, codec: first.codec, format: first.format, color: first.color)
  }

  /// Pictures that are drawn onto a canvas, one after the other, with their alpha. The canvas is opaque, as for libheif.
  private mutating func overlay(_ id: UInt32, _ derivations: Int) throws(ThumbnailError) -> StoredPicture {
    var (flags, fields) = try derivation(id)
    let color = (try fields.u16(), try fields.u16(), try fields.u16())
    try fields.skip(2)
    let numberSize = flags & 1 == 0 ? 2 : 4
    let canvas = PixelSize(width: Int(try fields.number(numberSize)), height: Int(try fields.number(numberSize)))
    let sources = table.references("dimg", from: id)
    guard (1...Int(CDECODING_MAX_OVERLAYS)).contains(sources.count) else {
      throw .unsupported("\(sources.count) pictures, drawn onto each other")
    }
    var parts: [StoredPicture] = []
    var isExact = true
    for source in sources {
      let (x, y) = (try fields.signed(numberSize), try fields.signed(numberSize))
      var part = try part(source, derivations)
      guard part.isCoded(like: parts.first ?? part), part.isAligned(x, y) else {
        throw .unsupported("pictures in different forms or at odd places, drawn onto each other")
      }
      if let alpha = try alpha(of: source) {
        try part.addAlpha(self.part(alpha, derivations))
        part.isPremultiplied = isPremultiplied(source)
        isExact = false
      }
      if x < 0 || y < 0 || x + part.pixels.width > canvas.width || y + part.pixels.height > canvas.height
        || parts.contains(where: { $0.tiles[0].overlaps(x: x, y: y, part.pixels) })
      {
        isExact = false
      }
      part.moveTiles(right: x, down: y)
      parts.append(part)
    }
    var picture = try StoredPicture(
      parts.flatMap(\.tiles), of: canvas, codec: parts[0].codec, format: parts[0].format, color: parts[0].color)
    // Without gaps nothing of the canvas shows.
    if !isExact || parts.reduce(0, { $0 + $1.pixels.count }) != canvas.count {
      try picture.layOver(
        RGBColor(red: UInt8(color.0 >> 8), green: UInt8(color.1 >> 8), blue: UInt8(color.2 >> 8)), parts)
    }
    return picture
  }

  /// A picture of which a derived one is made: one coded picture, as it is.
  private mutating func part(_ id: UInt32, _ derivations: Int) throws(ThumbnailError) -> StoredPicture {
    let picture = try storedPicture(of: id, derivations: derivations + 1)
    guard picture.canvas == nil, picture.tiles.count == 1, picture.geometry == PictureGeometry(picture.tiles[0].pixels)
    else {
      throw .unsupported("a picture made of pictures that are cut, turned or derived")
    }
    return picture
  }
}

extension StoredPicture {
  fileprivate func isCoded(like other: StoredPicture) -> Bool {
    codec == other.codec && format.hasLayout(of: other.format)
  }

  /// The only coded picture, at this place.
  fileprivate func tile(x: Int, y: Int) -> PictureTile {
    var tile = tiles[0]
    (tile.x, tile.y) = (x, y)
    return tile
  }

  /// Whether chroma samples of a picture at this place are on the grid of the whole picture's.
  fileprivate func isAligned(_ x: Int, _ y: Int) -> Bool {
    guard let chroma = format.chroma else { return true }
    return x % chroma.across == 0 && y % chroma.down == 0
  }
}

extension PictureTile {
  fileprivate func overlaps(x: Int, y: Int, _ size: PixelSize) -> Bool {
    x < self.x + pixels.width && self.x < x + size.width && y < self.y + pixels.height && self.y < y + size.height
  }
}
