import Thumbnails

/// Reads the header of a JPEG 2000 picture: a bare codestream, or one in the boxes of JP2 or JPX.
///
/// What the boxes say of size and depth is not read, because the codestream says it too, and the decoder obeys that.
///
/// Source: ISO/IEC 15444-1, annexes A (codestream) and I (boxes); ISO/IEC 15444-2, annex M (boxes of JPX).
enum JP2Header {
  /// - throws: `ThumbnailError`: `damaged`, `truncated`, `unsupported` and `unreadable`.
  static func read(_ window: FileWindow) throws(ThumbnailError) -> PictureHeader {
    let reader = BoxReader(window)
    let boxes = try JP2Boxes(reader)
    let codestream = try JP2Codestream(boxes.codestream, reader)
    let channels = try JP2Channels(boxes, codestream.grid, reader)
    let coding = try JP2Coding(boxes, codestream, first: channels.colors[0])
    var header = PictureHeader(
      type: .jp2, pixels: coding.resolutions[0].pixels, components: try channels.meaning(in: codestream.grid),
      coding: .jp2(coding), workingBytes: codestream.heldBytes)
    header.hasAlpha = channels.alpha != nil
    header.isPremultiplied = channels.isPremultiplied
    if header.isPremultiplied, case .ycc = header.components {
      throw .unsupported("luma and chroma that are multiplied by alpha")
    }
    header.color = channels.color
    if let exif = boxes.exif {
      header.exif = exif
      header.orientation = try window.bytes(at: exif.offset, count: Int(exif.size)).withUnsafeBufferPointer {
        ExifOrientation.read($0)
      }
    }
    if boxes.codestreams > 1 { header.remarks.append("only the first of several pictures is shown") }
    return header
  }
}

extension JP2Coding {
  fileprivate init(_ boxes: JP2Boxes, _ codestream: JP2Codestream, first: Int) throws(ThumbnailError) {
    let none = FileExtent(offset: 0, size: 0)
    let grid = codestream.grid
    for component in grid.components {
      let size = grid.size(of: component, discarding: 0)
      guard size.width > 0, size.height > 0 else { throw .damaged("a component has no samples") }
      guard max(size.width, size.height) <= PictureHeader.largestSide else {
        throw .unsupported("a picture of \(size)")
      }
    }
    // Means of a palette's indices are no colours.
    var most = boxes.palette == nil ? codestream.levels : 0
    // A component may begin where no sample of a coarse level is.
    while most > 0, grid.components.contains(where: { grid.size(of: $0, discarding: most).count == 0 }) { most -= 1 }
    let memory = JP2Memory(grid: grid, style: codestream.style)
    self.init(
      extents: [boxes.codestream, boxes.palette ?? none, boxes.mapping ?? none, boxes.definitions ?? none],
      resolutions: (0...most).map { levels in
        Resolution(
          pixels: grid.size(of: grid.components[first], discarding: levels), bytes: memory.bytes(discarding: levels))
      })
  }
}

/// The memory that OpenJPEG needs.
private struct JP2Memory {
  let grid: JP2Grid
  let style: JP2Style

  /// The most bytes that decoding takes without so many resolution levels, besides the header's `workingBytes`.
  ///
  /// OpenJPEG keeps samples as words of 32 bits, and one code block after the other becomes samples. What it knows of code
  /// blocks it keeps of all of them, also of those that it does not decode.
  ///
  /// Source: OpenJPEG 2.5, the allocations in `j2k.c`, `tcd.c`, `t2.c` and `pi.c`.
  func bytes(discarding levels: Int) -> Int {
    // What a hostile header asks for exceeds the range of integers.
    var bytes = Double(320 << 10) + Double(grid.tileCount) * Double((10 << 10) + grid.components.count * 1200)
    var (mostPrecincts, mostResolutions) = (0.0, 0)
    for (component, style) in zip(grid.components, style.components) {
      let tile = grid.tileSize(of: component)
      let kept = tile.halved(levels)
      // Tiles are copied as whole bytes.
      let copied = grid.tileCount == 1 ? 0 : component.bits <= 8 ? 1 : component.bits <= 16 ? 2 : 4
      bytes += Double(kept.count) * Double(4 + copied)
      // The rows or columns that are transformed at once, and our rows.
      bytes += 96 * Double(max(kept.width, kept.height))
      mostResolutions = max(mostResolutions, style.levels + 1)
      for resolution in 0...style.levels {
        let size = tile.halved(style.levels - resolution)
        let precinct = style.precincts[min(resolution, style.precincts.count - 1)]
        let precincts = size.pieces(across: precinct.across, down: precinct.down)
        mostPrecincts = max(mostPrecincts, precincts)
        // The lowest resolution is a band of its own, another has three of half its size.
        let (bands, half) = resolution == 0 ? (1.0, 0) : (3.0, 1)
        let blocks = size.halved(half).pieces(
          across: min(style.blockAcross, precinct.across - half), down: min(style.blockDown, precinct.down - half))
        let isKept = style.levels - resolution >= levels
        bytes += bands * (precincts * 256 + blocks * blockBytes(style, component, isKept: isKept))
      }
    }
    // For each packet, whether it has been read.
    bytes += Double(style.layers + 1) * Double(mostResolutions) * Double(grid.components.count) * mostPrecincts * 2
    return Int(min(bytes, 1e15))
  }

  /// The bytes for one code block: its structure, its nodes in two tag trees, the segments of its data and where they are.
  private func blockBytes(_ style: JP2Style.Component, _ component: JP2Grid.Component, isKept: Bool) -> Double {
    // Three passes for each bit plane. There are a few more planes than a sample has bits.
    let passes = 3 * (component.bits + 6)
    let segments = style.endsPasses ? passes : style.skipsCoder ? passes * 2 / 3 + 10 : 10
    let places = isKept ? 2 * (min(self.style.layers, passes) + (segments > 10 ? segments : 0)) + 1 : 0
    return Double(192 + (segments + 9) / 10 * 240 + 16 * places)
  }
}

extension PixelSize {
  /// The size without so many resolution levels; one more along each side, because it matters where it begins.
  fileprivate func halved(_ levels: Int) -> PixelSize {
    guard levels > 0 else { return self }
    return PixelSize(width: width >> levels + 1, height: height >> levels + 1)
  }

  /// How many pieces it touches at most, whose sides are powers of 2.
  fileprivate func pieces(across: Int, down: Int) -> Double {
    func count(_ length: Int, _ exponent: Int) -> Double { Double((length + 1 << exponent - 2) >> exponent + 1) }
    return count(width, max(across, 0)) * count(height, max(down, 0))
  }
}

/// The boxes around a codestream, as far as they matter here.
private struct JP2Boxes {
  private(set) var codestream = FileExtent(offset: 0, size: 0)
  private(set) var codestreams = 0
  /// The contents of boxes.
  private(set) var palette: FileExtent?
  private(set) var mapping: FileExtent?
  private(set) var definitions: FileExtent?
  private(set) var colors: [FileExtent] = []
  /// The TIFF structure with the EXIF tags.
  private(set) var exif: FileExtent?

  /// The most boxes of the file that are read. Those with metadata may come after the codestream.
  private static let mostBoxes = 1000
  private static let mostColors = 16
  private static let exifName = Array("JpgTiffExif->JP2".utf8)

  init(_ reader: BoxReader) throws(ThumbnailError) {
    let start = try reader.bytes(FileExtent(offset: 0, size: min(2, reader.whole.size)), atMost: 2)
    if Array(start) == [0xFF, 0x4F] {
      (codestream, codestreams) = (reader.whole, 1)
      return
    }
    var rest = reader.whole
    for _ in 0..<Self.mostBoxes {
      let box: Box?
      do throws(ThumbnailError) {
        box = try reader.next(in: &rest)
      } catch {
        // A fault after the picture does not matter.
        if codestreams > 0 { break }
        throw error
      }
      guard let box else { break }
      try read(box, reader)
    }
    guard codestreams > 0 else { throw rest.size == 0 ? FileWindow.endsTooEarly : .damaged("it has no codestream") }
  }

  private mutating func read(_ box: Box, _ reader: BoxReader) throws(ThumbnailError) {
    switch box.type {
    case "jp2c":
      codestreams += 1
      if codestreams == 1 { codestream = box.contents }
    case "ftbl" where codestreams == 0: throw .unsupported("a codestream in fragments")
    case "jp2h": try readHeader(box.contents, reader)
    // JPX: the headers of a codestream and of a layer. Those of the first come first.
    case "jpch", "jplh": try readHeader(box.contents, reader)
    case "uuid" where exif == nil && !box.isCut: try readEXIF(box.contents, reader)
    default: break
    }
  }

  private mutating func readHeader(_ contents: FileExtent, _ reader: BoxReader, depth: Int = 0) throws(ThumbnailError) {
    var rest = contents
    while let box = try reader.next(in: &rest) {
      switch box.type {
      case "pclr" where palette == nil: palette = box.contents
      case "cmap" where mapping == nil: mapping = box.contents
      case "cdef" where definitions == nil: definitions = box.contents
      case "colr" where colors.count < Self.mostColors: colors.append(box.contents)
      case "cgrp" where depth == 0: try readHeader(box.contents, reader, depth: 1)
      default: break
      }
    }
  }

  private mutating func readEXIF(_ contents: FileExtent, _ reader: BoxReader) throws(ThumbnailError) {
    let name: UInt64 = 16
    guard contents.size > name + 6, contents.size <= PictureHeader.longestBlock, reader.isInFile(contents) else {
      return
    }
    let head = Array(try reader.bytes(FileExtent(offset: contents.offset, size: name + 6), atMost: 22))
    guard head.starts(with: Self.exifName) else { return }
    // Some programs put JPEG's "Exif\0\0" before the structure.
    let skipped = head[16..<20].elementsEqual("Exif".utf8) || head[16..<20].elementsEqual("EXIF".utf8) ? name + 6 : name
    exif = FileExtent(offset: contents.offset + skipped, size: contents.size - skipped)
  }
}

/// The channels of a picture: which component each colour has, and what the colours are. The decoder follows the same rules.
private struct JP2Channels {
  /// The component of each colour.
  private(set) var colors: [Int] = []
  /// The component of alpha.
  private(set) var alpha: Int?
  private(set) var isPremultiplied = false
  private(set) var color = ColorDescription.unknown
  private var kind: Kind
  private let hasPalette: Bool

  private enum Kind { case grey, rgb, ycc, cmyk, unknown }

  /// As many as the decoder knows.
  private static let mostChannels = 16

  init(_ boxes: JP2Boxes, _ grid: JP2Grid, _ reader: BoxReader) throws(ThumbnailError) {
    (kind, hasPalette) = (.unknown, boxes.palette != nil)
    guard grid.components.count <= Self.mostChannels else {
      throw .unsupported("a picture of \(grid.components.count) components")
    }
    let channels = try Self.components(boxes, grid, reader)
    try readColor(boxes.colors, reader)
    // A file may say that it has red, green and blue, and have one component.
    if channels.count < count(of: kind) { (kind, color) = (.unknown, .unknown) }
    if kind == .unknown {
      guard channels.count <= 4 else { throw .unsupported("\(channels.count) channels without a colour space") }
      kind = channels.count <= 2 ? .grey : .rgb
    }
    let count = count(of: kind)
    var places = Array(0..<count)
    var opacity = count < 4 && channels.count == count + 1 ? count : nil
    if let definitions = boxes.definitions, definitions.size > 0 {
      opacity = nil
      var fields = try reader.fields(definitions, atMost: 2 + 6 * 255)
      for _ in 0..<min(try fields.u16(), fields.remaining / 6) {
        let (place, type, association) = (try fields.u16(), try fields.u16(), try fields.u16())
        guard place < channels.count else { continue }
        if type == 0, (1...count).contains(association) { places[association - 1] = place }
        if type == 1 || type == 2, association == 0, opacity == nil {
          (opacity, isPremultiplied) = (place, type == 2)
        }
      }
    }
    guard places.allSatisfy({ $0 < channels.count }) else { throw .damaged("a colour has no channel") }
    colors = places.map { channels[$0] }
    alpha = opacity.map { channels[$0] }
  }

  /// The component of each channel: with a palette, as the component mapping says.
  private static func components(
    _ boxes: JP2Boxes, _ grid: JP2Grid, _ reader: BoxReader
  ) throws(ThumbnailError) -> [Int] {
    guard boxes.palette != nil else { return Array(grid.components.indices) }
    guard let mapping = boxes.mapping, mapping.size >= 4 else {
      throw .damaged("a palette without a component mapping")
    }
    var fields = try reader.fields(mapping, atMost: 4 * 255)
    var channels: [Int] = []
    while fields.remaining >= 4, channels.count < mostChannels {
      let component = try fields.u16()
      try fields.skip(2)
      guard grid.components.indices.contains(component) else { throw .damaged("its component mapping is damaged") }
      channels.append(component)
    }
    return channels
  }

  private func count(of kind: Kind) -> Int {
    switch kind {
    case .unknown: 0
    case .grey: 1
    case .rgb, .ycc: 3
    case .cmyk: 4
    }
  }

  /// Takes the first colour specification that is known. JPX may have several, of which each says the same.
  private mutating func readColor(_ specifications: [FileExtent], _ reader: BoxReader) throws(ThumbnailError) {
    let head: UInt64 = 3
    var unknown: Int?
    for contents in specifications where contents.size > head {
      var fields = try reader.fields(FileExtent(offset: contents.offset, size: min(contents.size, 7)), atMost: 7)
      let method = try fields.u8()
      try fields.skip(2)
      switch method {
      case 1 where fields.remaining == 4:
        let space = Int(try fields.u32())
        switch space {
        // Bi-level, officially. OpenJPEG writes it for pictures of which it knows nothing.
        case 0: break
        case 12: kind = .cmyk
        case 16: (kind, color) = (.rgb, .sRGB)
        case 15, 17: kind = .grey
        case 18: (kind, color) = (.ycc, .sRGB)
        default: unknown = space
        }
      case 2, 3:
        let profile = FileExtent(offset: contents.offset + head, size: contents.size - head)
        if let kind = try Self.kind(of: profile, reader) { (self.kind, color) = (kind, .profile(profile)) }
      default: break
      }
      if kind != .unknown { return }
    }
    if let unknown { throw .unsupported("the colour space number \(unknown)") }
  }

  /// What the samples are that a profile describes; nil if it is not used.
  private static func kind(of profile: FileExtent, _ reader: BoxReader) throws(ThumbnailError) -> Kind? {
    let place: UInt64 = 16
    guard profile.size >= 128, profile.size <= PictureHeader.longestBlock, reader.isInFile(profile) else { return nil }
    var fields = try reader.fields(FileExtent(offset: profile.offset + place, size: 4), atMost: 4)
    switch try fields.fourCC() {
    case "GRAY": return .grey
    case "RGB ": return .rgb
    case "CMYK": return .cmyk
    default: return nil
    }
  }

  /// What the decoded samples mean.
  func meaning(in grid: JP2Grid) throws(ThumbnailError) -> PictureHeader.Components {
    let components = colors.map { grid.components[$0] }
    switch kind {
    case .grey, .unknown: return .grey(.full)
    case .cmyk: return .cmyk
    case .rgb, .ycc:
      let (across, down) = grid.chroma(of: components)
      // Nothing says so in a bare codestream, but nobody has fewer samples of green and blue.
      let isCoarse = components[1] != components[0] && components[1] == components[2]
      let isYCC = kind == .ycc || (color == .unknown && !hasPalette && isCoarse)
      return isYCC ? .ycc(.bt601, .full, across: across, down: down) : .rgb
    }
  }
}

/// Where the samples of tiles and components are (B.2 and B.3).
private struct JP2Grid: Hashable {
  struct Component: Hashable {
    var bits: Int
    /// The steps of its samples, in units of the reference grid.
    var across: Int
    var down: Int
  }

  /// The picture in the reference grid.
  private let left: Int
  private let top: Int
  private let right: Int
  private let bottom: Int
  /// The size of tiles, and where the first one begins.
  private let tile: PixelSize
  private let tileLeft: Int
  private let tileTop: Int
  let components: [Component]

  /// Reads the contents of the marker segment SIZ (A.5.1).
  init(_ fields: inout BoxFields) throws(ThumbnailError) {
    try fields.skip(2)
    var numbers: [Int] = []
    for _ in 0..<8 { numbers.append(Int(try fields.u32())) }
    (right, bottom, left, top) = (numbers[0], numbers[1], numbers[2], numbers[3])
    tile = PixelSize(width: numbers[4], height: numbers[5])
    (tileLeft, tileTop) = (numbers[6], numbers[7])
    let count = try fields.u16()
    guard left < right, top < bottom, count > 0 else { throw .damaged("the picture has no pixels") }
    guard max(right, bottom) <= Int(Int32.max) else { throw .unsupported("a reference grid of \(right) × \(bottom)") }
    guard tile.width > 0, tile.height > 0, tileLeft <= left, tileTop <= top, left < tileLeft + tile.width,
      top < tileTop + tile.height
    else { throw .damaged("its first tile is outside the picture") }
    var components: [Component] = []
    for _ in 0..<count {
      let component = Component(bits: try fields.u8() & 0x7F + 1, across: try fields.u8(), down: try fields.u8())
      guard component.across > 0, component.down > 0 else { throw .damaged("a component has no samples") }
      guard component.bits <= 31 else { throw .unsupported("samples of \(component.bits) bits") }
      components.append(component)
    }
    self.components = components
    guard tileColumns <= 65535, tileRows <= 65535, tileColumns * tileRows <= 65535 else {
      throw .damaged("it has \(tileColumns) × \(tileRows) tiles")
    }
  }

  private var tileColumns: Int { (right - tileLeft).quotientUp(tile.width) }
  private var tileRows: Int { (bottom - tileTop).quotientUp(tile.height) }
  var tileCount: Int { tileColumns * tileRows }

  /// The samples of a component without so many resolution levels.
  func size(of component: Component, discarding levels: Int) -> PixelSize {
    let step = 1 << min(levels, 32)
    func length(_ start: Int, _ end: Int, _ step: Int, _ level: Int) -> Int {
      end.quotientUp(step).quotientUp(level) - start.quotientUp(step).quotientUp(level)
    }
    return PixelSize(
      width: length(left, right, component.across, step), height: length(top, bottom, component.down, step))
  }

  /// The samples of a component that a tile has at most.
  func tileSize(of component: Component) -> PixelSize {
    let whole = size(of: component, discarding: 0)
    return PixelSize(
      width: min(whole.width, tile.width / component.across + 1),
      height: min(whole.height, tile.height / component.down + 1))
  }

  /// How many pixels a sample of the second and third component covers. One if they differ, if they cover another number, or if
  /// the picture begins within a sample; the decoder then repeats samples.
  func chroma(of components: [Component]) -> (across: Int, down: Int) {
    let (luma, second, third) = (components[0], components[1], components[2])
    let (across, down) = (second.across / luma.across, second.down / luma.down)
    guard second.across == third.across, second.down == third.down, [1, 2, 4].contains(across),
      [1, 2, 4].contains(down),
      across * luma.across == second.across, down * luma.down == second.down,
      left.quotientUp(luma.across) % across == 0, top.quotientUp(luma.down) % down == 0
    else { return (1, 1) }
    return (across, down)
  }
}

/// How components are coded (A.6.1 and A.6.2).
private struct JP2Style: Hashable {
  struct Component: Hashable {
    /// The times that the samples are halved.
    var levels = 0
    /// The size of code blocks, as powers of 2.
    var blockAcross = 6
    var blockDown = 6
    /// Whether each coding pass ends a segment of data.
    var endsPasses = false
    /// Whether passes bypass the arithmetic coder, and end segments.
    var skipsCoder = false
    /// The size of precincts, as powers of 2, of each resolution.
    var precincts: [Precinct] = [Precinct(across: 15, down: 15)]

    init() {}

    /// Reads SPcod or SPcoc.
    init(_ fields: inout BoxFields, hasPrecincts: Bool) throws(ThumbnailError) {
      levels = try fields.u8()
      guard levels <= 32 else { throw .damaged("a component has \(levels) resolution levels") }
      (blockAcross, blockDown) = (try fields.u8() & 0x0F + 2, try fields.u8() & 0x0F + 2)
      let style = try fields.u8()
      (skipsCoder, endsPasses) = (style & 1 != 0, style & 4 != 0)
      try fields.skip(1)
      guard hasPrecincts else { return }
      precincts = []
      for _ in 0...levels {
        let exponents = try fields.u8()
        precincts.append(Precinct(across: exponents & 15, down: exponents >> 4))
      }
    }
  }

  struct Precinct: Hashable {
    var across: Int
    var down: Int
  }

  var layers = 1
  var components: [Component]
}

/// What a codestream says before its data, and of its tile-parts.
private struct JP2Codestream {
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
    guard number(start, 0, 2) == 0xFF4F, number(start, 2, 2) == Marker.siz else {
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
    let (marker, length) = (number(head, 0, 2), number(head, 2, 2))
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
      guard number(head, 0, 2) == Marker.sot else { break }
      parts += 1
      let (tile, length) = (number(head, 4, 2), UInt64(number(head, 6, 4)))
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
      guard number(head, 0, 2) != Marker.sod, number(head, 2, 2) >= 2 else { return }
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

/// A big-endian number of up to four bytes.
private func number(_ bytes: [UInt8], _ offset: Int, _ count: Int) -> Int {
  bytes[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
}
