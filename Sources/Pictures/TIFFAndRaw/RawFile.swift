import Thumbnails

/// Reads RAW files: a camera's sensor data, with JPEGs of the same picture that the camera made for previews. Only these are
/// shown. The sensor data is never read.
///
/// Most kinds have the structure of a TIFF file (TIFF/EP, ISO 12234-2), and differ in their magic numbers, or only in what
/// their directories say.
///
/// Source: DNG 1.7; TIFF/EP; for what makers do not publish, ExifTool's tables of tags and LibRaw's sources.
enum RawFile {
  /// The kind of a RAW file with the structure of a TIFF file; nil if it is a TIFF picture.
  static func type(of pages: TIFFPages) throws(ThumbnailError) -> ImageType? {
    guard let first = pages.chain.first?.directory else { return nil }
    let file = pages.structure.file
    if let head = try file.bytes(at: 0, count: Int(min(UInt64(ImageType.sniffLength), file.size))) {
      // The magic numbers of makers, and Phase One's.
      if let type = ImageType.sniff(head), type != .tiff { return type }
      if head.dropFirst(8).starts(with: Array("IIII".utf8)) { return .raw }
    }
    // Phone makers and converters write DNG under every name.
    if first.has(.dngVersion) { return .dng }
    let make = (try first.text(.make) ?? "").uppercased()
    // Sony's first RAW files have sensor data that no directory describes.
    if make.hasPrefix("SONY"), first.has(.dngPrivateData) { return .arw }
    guard pages.all.contains(where: { $0.isSensorData || sensorCompressions.contains($0.compression) }) else {
      return nil
    }
    return makers.first { make.contains($0.name) }?.type ?? .raw
  }

  /// Compression by which makers mark sensor data: Sony, Nikon, Pentax and Samsung, Kodak, Panasonic.
  private static let sensorCompressions: Set<UInt64> = [32767, 34713, 65535, 32770, 65000, 34316]

  private static let makers: [(name: String, type: ImageType)] = [
    ("NIKON", .nef), ("SONY", .arw), ("PENTAX", .pef), ("RICOH", .pef), ("CANON", .cr2), ("OLYMPUS", .orf),
    ("OM DIGITAL", .orf), ("PANASONIC", .rw2), ("LEICA", .rw2),
  ]

  /// Whether the first directory of a TIFF file may be that of a RAW file. Further directories are not looked at.
  static func mayBeRaw(_ window: FileWindow) -> Bool {
    guard let structure = try? TIFFStructure(file: FileBlocks(window), at: 0),
      let first = try? structure.directory(at: structure.firstDirectory)
    else { return false }
    if first.has(.dngVersion) { return true }
    let make = (try? first.text(.make))?.uppercased() ?? ""
    return (makers.map(\.name) + otherMakers).contains { make.contains($0) }
  }

  /// Makers whose RAW files have no kind of their own here.
  private static let otherMakers = ["SAMSUNG", "HASSELBLAD", "KODAK", "LEAF"]

  /// The header of a RAW file's largest preview, with the others as smaller versions.
  ///
  /// - throws: `ThumbnailError.unsupported` if there is no preview that can be read.
  static func header(_ type: ImageType, _ pages: TIFFPages) throws(ThumbnailError) -> PictureHeader {
    let turned = RawOrientation(
      value: try pages.chain.first?.directory.orientation,
      sensor: pages.all.filter { $0.isSensorData && $0.hasSize }.map(\.pixels).max { $0.count < $1.count })
    let found = try RawPreviews.find(in: pages, type)
    var previews = try headers(of: found.extents, pages.structure.file, type, turned)
    if previews.isEmpty { previews = try uncompressed(pages, type, turned) }
    var header = try header(previews, isCut: found.isCut, mayBeCut: found.mayBeCut || pages.isCut)
    header.wholePixelCount = turned.sensor?.count
    if let sensor = turned.sensor, header.pixels.count < sensor.count / 2 {
      header.remarks.append("its largest preview has \(header.pixels), of \(sensor)")
    }
    return header
  }

  /// The header of a Fujifilm RAW file, which is not a TIFF file: a list of offsets, the first of which is that of a JPEG
  /// as the camera would have written it without RAW.
  static func fujifilm(_ window: FileWindow) throws(ThumbnailError) -> PictureHeader {
    let file = FileBlocks(window)
    guard let head = try file.bytes(at: 0, count: 92, ahead: 128).map(Array.init) else {
      throw .truncated("the file ends within its header")
    }
    let place = ByteOrder.bigEndian.number(head[84..<88])
    let size = ByteOrder.bigEndian.number(head[88..<92])
    let extents = [file.extent(at: place, size: size)].compactMap { $0 }
    let previews = try headers(of: extents, file, .raf, RawOrientation(value: nil, sensor: nil))
    return try header(previews, isCut: place >= file.size)
  }

  /// The header of a Canon RAW file of version 3, which has the boxes of an ISO base media file.
  static func canon(_ window: FileWindow) throws(ThumbnailError) -> PictureHeader {
    let canon = try CanonRawFile(window)
    return try header(
      .cr3, previews: canon.previews, of: window, orientation: canon.orientation, sensor: canon.pixels)
  }

  /// The header of a RAW file whose previews are known already.
  ///
  /// - parameters:
  ///   - orientation: what the file says of all of them.
  ///   - sensor: the size of the sensor's picture; nil if it is not known.
  private static func header(
    _ type: ImageType, previews: [FileExtent], of window: FileWindow, orientation: Orientation?, sensor: PixelSize?
  ) throws(ThumbnailError) -> PictureHeader {
    let turned = RawOrientation(value: orientation, sensor: sensor)
    var header = try header(headers(of: previews, FileBlocks(window), type, turned), isCut: false)
    header.wholePixelCount = sensor?.count
    return header
  }

  /// The header of the largest preview.
  ///
  /// - parameters:
  ///   - isCut: whether the file ends before one of its previews.
  ///   - mayBeCut: whether it ends before something else, which may be what names a preview.
  private static func header(
    _ previews: [PictureHeader], isCut: Bool, mayBeCut: Bool = false
  ) throws(ThumbnailError) -> PictureHeader {
    // Of previews with the same size, the first counts.
    guard let most = previews.map(\.pixels.count).max(),
      let index = previews.firstIndex(where: { $0.pixels.count == most })
    else {
      throw isCut || mayBeCut
        ? .truncated("the file ends before its preview") : .unsupported("it has no preview that can be read")
    }
    var header = previews[index]
    header.reduced = previews
    header.reduced.remove(at: index)
    if isCut { header.remarks.append("the file ends before one of its previews") }
    return header
  }

  private static func headers(
    of extents: [FileExtent], _ file: FileBlocks, _ type: ImageType, _ turned: RawOrientation
  ) throws(ThumbnailError) -> [PictureHeader] {
    var found: [PictureHeader] = []
    for extent in extents {
      guard let head = try JPEGHead.read(file, extent) else { continue }
      found.append(head.header(type: type, extent, orientation: turned.of(head.pixels, its: head.orientation)))
    }
    return found
  }

  /// Without a JPEG, small pictures that are stored as they are in a TIFF file, as some cameras of 2006 wrote them.
  private static func uncompressed(
    _ pages: TIFFPages, _ type: ImageType, _ turned: RawOrientation
  ) throws(ThumbnailError) -> [PictureHeader] {
    var found: [PictureHeader] = []
    for page in pages.all where page.photometric == TIFFPage.Photometric.rgb && page.bitsPerSample == 8 {
      guard page.compression == TIFFPage.Compression.none, var header = try TIFFHeader.header(of: page, type: type)
      else { continue }
      header.orientation = turned.of(page.pixels, its: nil)
      found.append(header)
    }
    return found
  }
}

/// How the previews of a RAW file are turned for display.
///
/// A preview's own EXIF orientation counts, because it tells of these very pixels, and the one of the RAW file's first
/// directory if the preview has none. dcraw and immich do the same; gThumb knows the latter only, and turns some previews
/// twice. But cameras and converters forget: some turn a preview's pixels upright and say nothing of it, others leave an
/// orientation in it that is not true. So one that contradicts the shape of the sensor's picture does not count.
struct RawOrientation {
  /// What the first directory says.
  let value: Orientation?
  /// The size of the sensor's picture as stored; nil if it is not known.
  let sensor: PixelSize?

  /// - parameters:
  ///   - pixels: of the preview, as stored.
  ///   - own: what the preview's EXIF says.
  func of(_ pixels: PixelSize, its own: Orientation?) -> Orientation {
    let claims = [own, value, .upright].compactMap { $0 }
    guard let sensor, let value, sensor.width != sensor.height, pixels.width != pixels.height else { return claims[0] }
    let displayed = value.apply(to: sensor)
    return claims.first {
      let turned = $0.apply(to: pixels)
      return (turned.width > turned.height) == (displayed.width > displayed.height)
    } ?? claims[0]
  }
}
