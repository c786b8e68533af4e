import Thumbnails

/// A picture that is made of coded ones, before it is cut and turned for display.
struct StoredPicture {
  let codec: PictureHeader.TileCodec
  let format: CodedFormat
  let pixels: PixelSize
  /// At their places in the stored picture. Without alpha, except for ``layOver(_:_:)``.
  var tiles: [PictureTile]
  var geometry: PictureGeometry
  var color: ColorProperties
  /// The same for alpha.
  private(set) var alpha: [PictureTile] = []
  /// The memory that decoding alpha takes.
  private(set) var alphaBytes = 0
  /// Whether colours are multiplied by alpha.
  var isPremultiplied = false
  /// The colour where no tile is, if there are such places, or if tiles lie on each other or are transparent.
  private(set) var canvas: RGBColor?

  /// The properties of items that say something about colours.
  struct ColorProperties {
    var codePoints: CodePoints?
    var profile: FileExtent?
  }

  /// One coded picture.
  init(
    _ tile: PictureTile, codec: PictureHeader.TileCodec, format: CodedFormat, color: ColorProperties
  ) throws(ThumbnailError) {
    try self.init([tile], of: tile.pixels, codec: codec, format: format, color: color)
  }

  /// - Throws: `ThumbnailError.damaged` if the size is not one of a picture.
  init(
    _ tiles: [PictureTile], of pixels: PixelSize, codec: PictureHeader.TileCodec, format: CodedFormat,
    color: ColorProperties
  ) throws(ThumbnailError) {
    let sides = 1...PictureHeader.largestSide
    guard sides.contains(pixels.width), sides.contains(pixels.height) else {
      throw .damaged("a picture of \(pixels.width) × \(pixels.height) pixels")
    }
    (self.tiles, self.pixels, self.codec, self.format, self.color) = (tiles, pixels, codec, format, color)
    geometry = PictureGeometry(pixels)
  }

  // MARK: Alpha

  /// Takes alpha from another picture.
  mutating func addAlpha(_ other: StoredPicture) throws(ThumbnailError) {
    guard other.pixels == pixels else { throw .unsupported("alpha of another size than the picture's") }
    // What is done to the picture is meant for its alpha too, if that says nothing.
    guard other.geometry == geometry || other.geometry == PictureGeometry(pixels) else {
      throw .unsupported("alpha that is cut or turned in another way than the picture")
    }
    guard other.codec == codec else { throw .unsupported("alpha in another codec than the picture's") }
    guard canvas == nil, other.canvas == nil else { throw .unsupported("alpha of pictures that lie on each other") }
    alpha = other.tiles
    alphaBytes = other.workingBytes
    for index in alpha.indices { alpha[index].isAlpha = true }
  }

  /// Replaces the tiles by those of pictures that lie on each other, the first one lowest, and on a canvas. Each has one tile,
  /// and one for its alpha if it is transparent.
  mutating func layOver(_ color: RGBColor, _ pictures: [StoredPicture]) throws(ThumbnailError) {
    let transparent = pictures.filter { !$0.alpha.isEmpty }
    isPremultiplied = transparent.first?.isPremultiplied ?? false
    guard transparent.allSatisfy({ $0.isPremultiplied == isPremultiplied }) else {
      throw .unsupported("pictures of which some are multiplied by their alpha, drawn onto each other")
    }
    canvas = color
    tiles = pictures.reversed().flatMap { $0.alpha + $0.tiles }
    alphaBytes = transparent.map(\.alphaBytes).max() ?? 0
  }

  /// Moves the tiles of colours and alpha.
  mutating func moveTiles(right: Int, down: Int) {
    for index in tiles.indices { tiles[index].move(right, down) }
    for index in alpha.indices { alpha[index].move(right, down) }
  }

  // MARK: The header

  /// The header of the picture.
  func header() throws(ThumbnailError) -> PictureHeader {
    let points = codePoints
    var tiles = alpha + tiles
    for index in tiles.indices { tiles[index].move(-geometry.x, -geometry.y) }
    var header = PictureHeader(
      type: codec == .hevc ? .heic : .avif, pixels: geometry.pixels, components: try components(points),
      coding: .tiles(codec, tiles), workingBytes: workingBytes)
    header.orientation = geometry.orientation
    header.hasAlpha = !alpha.isEmpty
    header.isPremultiplied = isPremultiplied
    header.canvas = canvas
    header.color = colorDescription(points)
    switch points.transfer {
    case 16: header.remarks.append("HDR (PQ), mapped to standard range")
    case 18: header.remarks.append("HDR (HLG), mapped to standard range")
    default: break
    }
    return header
  }

  /// The properties of the item, or else what the coded data say, or else MIAF's default (ISO/IEC 23000-22, 7.3.6.4).
  private var codePoints: CodePoints {
    let coded =
      format.codePoints
      ?? CodePoints(
        primaries: CodePoints.unspecified, transfer: CodePoints.unspecified, matrix: CodePoints.unspecified,
        isFullRange: true)
    guard var points = color.codePoints else { return coded }
    if points.matrix == CodePoints.unspecified { points.matrix = coded.matrix }
    return points
  }

  private func colorDescription(_ points: CodePoints) -> ColorDescription {
    if let profile = color.profile, profile.size <= PictureHeader.longestBlock { return .profile(profile) }
    let none = CodePoints.unspecified
    guard points.primaries != none || points.transfer != none else { return .unknown }
    let primaries = points.primaries == none ? 1 : points.primaries
    let transfer = points.transfer == none ? 13 : points.transfer
    return primaries == 1 && transfer == 13 ? .sRGB : .numbered(primaries: primaries, transfer: transfer)
  }

  private func components(_ points: CodePoints) throws(ThumbnailError) -> PictureHeader.Components {
    let range: YCbCrRange = points.isFullRange ? .full : .limited
    guard let chroma = format.chroma else { return .grey(range) }
    if points.matrix == 0 {
      guard chroma.across == 1, chroma.down == 1 else { throw .damaged("RGB with fewer samples of a colour") }
      guard points.isFullRange else { throw .unsupported("RGB of limited range") }
      return .rgb
    }
    return .ycc(try matrix(points), range, across: chroma.across, down: chroma.down)
  }

  /// ITU-T H.273, table 4. Where the weights differ by less than two hundredths from those of another number, that is used.
  private func matrix(_ points: CodePoints) throws(ThumbnailError) -> YCbCrMatrix {
    switch points.matrix {
    case 1, 7: .bt709
    case 2, 4, 5, 6: .bt601
    case 9: .bt2020
    // Derived from the primaries.
    case 12:
      switch points.primaries {
      case 9: .bt2020
      case 4, 5, 6, 7: .bt601
      default: .bt709
      }
    case 8: throw .unsupported("colours in YCgCo")
    case 14: throw .unsupported("colours in ICtCp")
    default: throw .unsupported("the matrix coefficients \(points.matrix)")
    }
  }
}

extension PictureTile {
  fileprivate mutating func move(_ right: Int, _ down: Int) { (x, y) = (x + right, y + down) }
}
