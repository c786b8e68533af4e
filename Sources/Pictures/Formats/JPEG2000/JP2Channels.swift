import Thumbnails

/// The channels of a picture: which component each colour has, and what the colours are. The decoder follows the same rules.
struct JP2Channels {
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
      // A bare codestream does not name its colours. Two components with fewer samples than the first are chroma.
      let isCoarse = components[1] != components[0] && components[1] == components[2]
      let isYCC = kind == .ycc || (color == .unknown && !hasPalette && isCoarse)
      return isYCC ? .ycc(.bt601, .full, across: across, down: down) : .rgb
    }
  }
}
