import Thumbnails

/// Reads the headers of HEIF files: HEIC and AVIF.
///
/// Source: ISO/IEC 23008-12 (HEIF), ISO/IEC 23000-22 (MIAF), AV1 Image File Format.
public struct HEIFReader {
  let reader: BoxReader
  let table: ItemTable
  /// The properties that are read already, at the places that ``ItemTable/properties`` have.
  var properties: [Int: ItemProperty] = [:]
  /// The parts of all coded pictures so far. The pictures of a grid may be the same item, whose parts count each time.
  var extentCount = 0

  /// More thumbnails or auxiliary pictures of one picture are not looked at.
  private static let mostCompanions = 16

  private init(_ reader: BoxReader, _ table: ItemTable) { (self.reader, self.table) = (reader, table) }

  /// The header of the primary picture; of the first frame of the first track if there is none, and of files whose major
  /// brand says that they are sequences of AVIF. Their primary picture is only for programs that cannot show a track, and may
  /// lack its alpha.
  public static func header(of file: FileWindow) throws(ThumbnailError) -> PictureHeader {
    let reader = BoxReader(file)
    var rest = reader.whole
    var (isSequence, movie, still): (Bool, Box?, (heif: HEIFReader, primary: UInt32)?) = (false, nil, nil)
    while still == nil || isSequence && movie == nil {
      let next: Box?
      do throws(ThumbnailError) { next = try reader.next(in: &rest) } catch {
        // What follows a picture that can be shown may be damaged.
        if still == nil { throw error }
        break
      }
      guard let box = next else { break }
      switch box.type {
      case "ftyp":
        guard box.contents.size >= 4 else { break }
        var fields = try reader.fields(FileExtent(offset: box.contents.offset, size: 4), atMost: 4)
        isSequence = try fields.fourCC() == "avis"
      case "moov" where movie == nil: movie = box
      case "meta" where still == nil:
        if box.isCut { throw FileWindow.endsTooEarly }
        let heif = HEIFReader(reader, try ItemTable(box.contents, reader))
        if let primary = heif.table.primary { still = (heif, primary) }
      default: break
      }
    }
    if isSequence, let movie, !movie.isCut, let frame = try? MovieReader(reader).firstFrame(in: movie.contents) {
      return frame
    }
    if let still {
      var heif = still.heif
      return try heif.header(of: still.primary)
    }
    guard let movie else { throw .damaged("it has no primary picture") }
    if movie.isCut { throw FileWindow.endsTooEarly }
    return try MovieReader(reader).firstFrame(in: movie.contents)
  }

  /// The header of the picture of an item, with its metadata and thumbnails.
  private mutating func header(of id: UInt32) throws(ThumbnailError) -> PictureHeader {
    var header = try pictureHeader(of: id)
    header.exif = exif(of: id)
    for thumbnail in table.references("thmb", to: id).prefix(Self.mostCompanions) {
      // A thumbnail that cannot be shown is no loss.
      guard let small = try? pictureHeader(of: thumbnail), small.hasAlpha == header.hasAlpha,
        Self.haveSameShape(small.orientedPixels, header.orientedPixels)
      else { continue }
      header.reduced.append(small)
    }
    return header
  }

  private mutating func pictureHeader(of id: UInt32) throws(ThumbnailError) -> PictureHeader {
    guard let item = table.items[id] else {
      throw .damaged("a picture or block that its header refers to is missing (item \(id))")
    }
    if item.type == "jpeg" || item.type == "mime" && item.contentType == "image/jpeg" {
      return try jpegHeader(of: id)
    }
    var picture = try storedPicture(of: id)
    if let alpha = try alpha(of: id) {
      try picture.addAlpha(storedPicture(of: alpha))
      picture.isPremultiplied = isPremultiplied(id)
    }
    return try picture.header()
  }

  /// The item that is the alpha of another one; nil if that is opaque.
  mutating func alpha(of id: UInt32) throws(ThumbnailError) -> UInt32? {
    for auxiliary in table.references("auxl", to: id).prefix(Self.mostCompanions) {
      if let type = try itemProperties(of: auxiliary).auxiliaryType, Self.alphaTypes.contains(type) { return auxiliary }
    }
    return nil
  }

  /// Whether the colours of an item are multiplied by its alpha.
  func isPremultiplied(_ id: UInt32) -> Bool { !table.references("prem", from: id).isEmpty }

  static let alphaTypes = [
    "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", "urn:mpeg:hevc:2015:auxid:1", "urn:mpeg:avc:2015:auxid:1",
  ]

  /// A picture that is a JPEG file inside the file.
  private mutating func jpegHeader(of id: UInt32) throws(ThumbnailError) -> PictureHeader {
    let data = try table.data(of: id)
    guard data.count == 1 else { throw .unsupported("a JPEG in several parts") }
    let properties = try itemProperties(of: id)
    guard let pixels = properties.size, (1...65_535).contains(pixels.width), (1...65_535).contains(pixels.height) else {
      throw .damaged("a picture without a size")
    }
    var geometry = PictureGeometry(pixels)
    for step in properties.steps { try geometry.apply(step) }
    guard geometry.pixels == pixels else { throw .unsupported("a JPEG of which a part is cut out") }
    var header = PictureHeader(
      type: .heic, pixels: pixels, components: .ycc(.bt601, .full, across: 1, down: 1), coding: .jpeg(data[0]),
      workingBytes: 0)
    header.orientation = geometry.orientation
    if let profile = properties.color.profile { header.color = .profile(profile) }
    return header
  }

  /// The TIFF structure of the item with EXIF tags. The first 4 bytes of the item say where in the rest it begins
  /// (ISO/IEC 23008-12, A.2.1).
  private func exif(of id: UInt32) -> FileExtent? {
    for item in table.references("cdsc", to: id).prefix(Self.mostCompanions) where table.items[item]?.type == "Exif" {
      guard let data = try? table.data(of: item), data.count == 1, data[0].size > 4,
        var fields = try? reader.fields(FileExtent(offset: data[0].offset, size: 4), atMost: 4),
        let offset = try? fields.number(4), offset < data[0].size - 4
      else { continue }
      let block = FileExtent(offset: data[0].offset + 4 + offset, size: data[0].size - 4 - offset)
      return block.size <= PictureHeader.longestBlock ? block : nil
    }
    return nil
  }

  /// Whether two sizes have the same shape, apart from the rounding of the smaller one.
  private static func haveSameShape(_ small: PixelSize, _ large: PixelSize) -> Bool {
    let difference = small.width * large.height - small.height * large.width
    return abs(difference) <= 2 * max(large.width, large.height)
  }
}
