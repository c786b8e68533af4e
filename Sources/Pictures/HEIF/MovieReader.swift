import Thumbnails

/// Finds the first sample of each track of an ISO base media file.
///
/// Source: ISO/IEC 14496-12, 8.3 to 8.7 and 12.1.3.
struct MovieReader {
  private let reader: BoxReader

  /// More tracks are not looked at.
  private static let mostTracks = 16

  init(_ reader: BoxReader) { self.reader = reader }

  /// The first sample of a track, and what its sample entry says.
  struct Track {
    var id: UInt32 = 0
    /// The tracks for which this one is an auxiliary one, such as alpha.
    var auxiliaryOf: [UInt32] = []
    /// The tracks whose alpha this one's colours are multiplied by.
    var multipliedBy: [UInt32] = []
    var handler: FourCC = "    "
    var codec: FourCC = "    "
    var pixels = PixelSize(width: 0, height: 0)
    /// The boxes in the sample entry.
    var entry = FileExtent(offset: 0, size: 0)
    var sampleSize: UInt64?
    var sampleOffset: UInt64?

    var sample: FileExtent? {
      guard let sampleSize, let sampleOffset, sampleSize > 0 else { return nil }
      return FileExtent(offset: sampleOffset, size: sampleSize)
    }
  }

  /// - parameter movie: the contents of the box `moov`.
  func tracks(in movie: FileExtent) throws(ThumbnailError) -> [Track] {
    var tracks: [Track] = []
    var rest = movie
    while tracks.count < Self.mostTracks, let box = try reader.next(in: &rest) {
      guard box.type == "trak" else { continue }
      var track = Track()
      try read(box.contents, into: &track, depth: 0)
      tracks.append(track)
    }
    return tracks
  }

  private func read(_ contents: FileExtent, into track: inout Track, depth: Int) throws(ThumbnailError) {
    var rest = contents
    while let box = try reader.next(in: &rest) {
      switch box.type {
      case "mdia", "minf", "stbl":
        // These three are in each other.
        if depth < 3 { try read(box.contents, into: &track, depth: depth + 1) }
      case "tkhd":
        var fields = try head(of: box)
        // Two times, which are longer in version 1.
        try fields.skip(try fields.versionAndFlags().version == 1 ? 16 : 8)
        track.id = try fields.u32()
      case "tref":
        var references = box.contents
        while let reference = try reader.next(in: &references) {
          var fields = try head(of: reference)
          var ids: [UInt32] = []
          while fields.remaining >= 4 { ids.append(try fields.u32()) }
          if reference.type == "auxl" { track.auxiliaryOf = ids }
          if reference.type == "prem" { track.multipliedBy = ids }
        }
      case "hdlr":
        var fields = try head(of: box)
        try fields.skip(8)
        track.handler = try fields.fourCC()
      case "stsd": try readEntry(box, into: &track)
      case "stsz":
        var fields = try head(of: box)
        try fields.skip(4)
        let (size, count) = (try fields.u32(), try fields.u32())
        guard count > 0 else { break }
        track.sampleSize = UInt64(size == 0 ? try fields.u32() : size)
      case "stco", "co64":
        var fields = try head(of: box)
        try fields.skip(4)
        guard try fields.u32() > 0 else { break }
        track.sampleOffset = try fields.number(box.type == "stco" ? 4 : 8)
      default: break
      }
    }
  }

  /// The fields with which a box begins.
  private func head(of box: Box) throws(ThumbnailError) -> BoxFields {
    try reader.fields(FileExtent(offset: box.contents.offset, size: min(box.contents.size, 128)), atMost: 128)
  }

  private func readEntry(_ box: Box, into track: inout Track) throws(ThumbnailError) {
    var fields = try head(of: box)
    // Version, flags, the number of entries, and the size of the first.
    try fields.skip(8)
    let size = UInt64(try fields.u32())
    track.codec = try fields.fourCC()
    let headSize: UInt64 = 8 + 8 + 78
    guard size >= headSize - 8, size <= box.contents.size - 8 else { return }
    try fields.skip(24)
    track.pixels = PixelSize(width: try fields.u16(), height: try fields.u16())
    track.entry = FileExtent(offset: box.contents.offset + headSize, size: size + 8 - headSize)
  }

  /// The header of the first frame of the first track with pictures.
  func firstFrame(in movie: FileExtent) throws(ThumbnailError) -> PictureHeader {
    let tracks = try tracks(in: movie)
    guard let track = tracks.first(where: { ["pict", "vide"].contains($0.handler) }) else {
      throw .unsupported("it has no track with pictures")
    }
    var picture = try firstPicture(of: track)
    for other in tracks where other.handler == "auxv" && other.auxiliaryOf.contains(track.id) {
      // Others, such as depth, may be of any kind.
      guard let type = try properties(of: other).auxiliaryType, HEIFReader.alphaTypes.contains(type) else { continue }
      try picture.addAlpha(firstPicture(of: other))
      picture.isPremultiplied = track.multipliedBy.contains(other.id)
      break
    }
    var header = try picture.header()
    header.remarks.append("a sequence; only its first picture is shown")
    return header
  }

  /// What the sample entry of a track says of its pictures.
  private func properties(of track: Track) throws(ThumbnailError) -> HEIFReader.Properties {
    var properties = HEIFReader.Properties()
    var rest = track.entry
    while let box = try reader.next(in: &rest) {
      // Names of auxiliary tracks (ISO/IEC 23008-12, 7.5.3.2) are written as those of items are.
      let type: FourCC = box.type == "auxi" ? "auxC" : box.type
      guard ["hvcC", "av1C", "colr", "clap", "irot", "imir", "auxC"].contains(type) else { continue }
      properties.add(try ItemProperty(Box(type: type, contents: box.contents, isCut: box.isCut), reader))
    }
    return properties
  }

  /// The first picture of a track.
  private func firstPicture(of track: Track) throws(ThumbnailError) -> StoredPicture {
    let codec: PictureHeader.TileCodec
    switch track.codec {
    case "hvc1", "hev1": codec = .hevc
    case "av01": codec = .av1
    default: throw .unsupported("a sequence of the type “\(track.codec)”")
    }
    guard let sample = track.sample else { throw .unsupported("a sequence in fragments") }
    guard reader.isInFile(sample) else { throw FileWindow.endsTooEarly }
    let properties = try properties(of: track)
    guard let configuration = properties.configuration, configuration.codec == codec else {
      throw .damaged("it does not say how to decode its sequence")
    }
    let tile = PictureTile(x: 0, y: 0, pixels: track.pixels, data: [sample], configuration: configuration.record)
    let format = try configuration.format.completed(codec, by: tile.data, reader)
    var picture = try StoredPicture(tile, codec: codec, format: format, color: properties.color)
    for step in properties.steps { try picture.geometry.apply(step) }
    return picture
  }
}
