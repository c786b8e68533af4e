import Thumbnails

/// How samples and colours correspond, by numbers (ITU-T H.273).
struct CodePoints: Sendable, Hashable {
  var primaries: Int
  var transfer: Int
  var matrix: Int
  var isFullRange: Bool

  /// The number that means “unspecified”, in all three tables.
  static let unspecified = 2
}

/// What the decoder configuration of a coded picture says about it.
struct CodedFormat: Sendable, Hashable {
  /// The pixels that a chroma sample covers.
  struct Chroma: Sendable, Hashable {
    let across: Int
    let down: Int
  }

  /// nil if there is luma only.
  var chroma: Chroma?
  /// The bits of a sample.
  var bits: Int
  /// What the coded data themselves say about colours; nil if nothing is known.
  var codePoints: CodePoints?
  /// The size with which the decoder works, which may be larger than the picture's; nil if it is not known.
  var codedPixels: PixelSize?
  /// How many pictures an AV1 decoder holds at once. One, unless the picture is scaled or made of several.
  var picturesHeld = 2

  /// The same with what an AV1 picture's own data say, if the configuration has no sequence header.
  func completed(
    _ codec: PictureHeader.TileCodec, by data: [FileExtent], _ reader: BoxReader
  ) throws(ThumbnailError) -> CodedFormat {
    guard codec == .av1, codePoints == nil, let start = data.first else { return self }
    var format = self
    let head = try reader.bytes(FileExtent(offset: start.offset, size: min(start.size, 256)), atMost: 256)
    format.readSequenceHeader(in: head)
    return format
  }

  /// Whether samples of both have the same layout.
  func hasLayout(of other: CodedFormat) -> Bool { chroma == other.chroma && bits == other.bits }
}
