import Pictures
import Thumbnails

/// A source of any format whose header has been read.
struct SourcePicture {
  private enum Content {
    /// A JPEG file, or one in the file, which is turned like this for display.
    case jpeg(ByteReader, in: FileExtent, Orientation?, SourceInfo)
    case decoder(DecodeRequest, PictureHeader, ImageType, bytesNeeded: Int)
  }

  private let file: SourceFile
  private var content: Content
  /// Width and height as displayed.
  let orientedPixels: PixelSize
  let orientation: Orientation
  /// What the user should know of the file, whichever version of its picture is decoded.
  private var remarks: [String] = []
  /// Why its thumbnails are much smaller than asked for; nil if they are not.
  private(set) var shortfall: String?

  /// Reads the header.
  ///
  /// - Throws: `ThumbnailError`, also if limits are exceeded.
  init(
    _ file: SourceFile, _ type: ImageType, for options: ThumbnailOptions, monitor: any ThumbnailMonitor
  ) throws(ThumbnailError) {
    self.file = file
    // Most JPEG files need no look at what else they contain.
    let looksInside = type == .jpeg && options.previews == .prefer
    let bytes = ByteReader(file.bytes) { !monitor.isCancelled }
    let previews = looksInside ? try PictureReader.readPreviews(ofJPEG: bytes) : nil
    guard type != .jpeg || previews?.reduced.isEmpty == false else {
      let info = try ThumbnailMaker.readInfo(of: file.bytes, for: options, monitor: monitor)
      content = .jpeg(file.bytes, in: FileExtent(offset: 0, size: UInt64(file.size)), nil, info)
      (orientedPixels, orientation) = (info.orientedPixels, info.orientation)
      return
    }
    monitor.entered(.reading)
    let whole: PictureHeader
    if let previews { whole = previews } else { whole = try PictureReader.readHeader(of: bytes, type: type) }
    (orientedPixels, orientation) = (whole.orientedPixels, whole.orientation)
    (remarks, shortfall) = (whole.remarks, try whole.shortfall(for: options))
    switch try whole.plan(for: options) {
    case .jpeg(let extent, let orientation):
      let bytes = ByteReader(part: extent.offset, size: Int(clamping: extent.size), of: file.bytes)
      let info = try ThumbnailMaker.readInfo(of: bytes, orientation: orientation, for: options, monitor: monitor)
      content = .jpeg(bytes, in: extent, orientation, info)
    case .decoder(let request, let version):
      content = .decoder(
        request, version, type, bytesNeeded: try request.bytesNeeded(for: options, header: version))
    }
  }

  /// The size of a picture as displayed, and how it is turned for that. Reads the header only.
  ///
  /// - Throws: `ThumbnailError`.
  static func readShape(
    of file: SourceFile, _ type: ImageType, isCancelled: @escaping () -> Bool
  ) throws(ThumbnailError) -> (pixels: PixelSize, orientation: Orientation) {
    if type == .jpeg {
      let info = try ThumbnailMaker.readInfo(of: file.bytes)
      return (info.orientedPixels, info.orientation)
    }
    let header = try PictureReader.readHeader(of: ByteReader(file.bytes) { !isCancelled() }, type: type)
    return (header.orientedPixels, header.orientation)
  }

  /// The peak memory for making the thumbnails, in bytes, beyond that of an idle maker and an idle helper process.
  func bytesNeeded(for options: ThumbnailOptions, decoding: Decoding) -> Int {
    switch content {
    case .jpeg(_, _, _, let info): info.bytesNeeded(for: options, decoding: decoding)
    case .decoder(_, _, _, let bytes): bytes
    }
  }

  /// The same picture with the memory that rare ones take; nil if its format has no such.
  var withRareMemory: SourcePicture? {
    guard case .decoder(let request, let header, let type, let bytes) = content, header.rareBytes > 0 else {
      return nil
    }
    var copy = self
    copy.content = .decoder(
      request.allowing(more: header.rareBytes), header, type, bytesNeeded: bytes + header.rareBytes)
    return copy
  }

  /// Makes every size, in the order of the options, and delivers each when it is done.
  ///
  /// - Returns: what the user should know of the source.
  /// - Throws: `ThumbnailError`, ``SourceFailure``, and the errors of `deliver`.
  func makeThumbnails(
    _ maker: ThumbnailMaker, _ decoders: PictureDecoders, options: ThumbnailOptions, decoding: Decoding,
    monitor: any ThumbnailMonitor, deliver: (Thumbnail) throws -> Void
  ) throws -> [String] {
    switch content {
    case .jpeg(let bytes, let extent, let orientation, let info) where decoders.decodesJPEG(decoding):
      let whole = try WholeJPEG(
        bytes, orientation: orientation, options: options, decoding: decoding, monitor: monitor, maker: maker)
      let request = DecodeRequest(whole, in: extent, of: info.bytesNeeded(for: options, decoding: decoding))
      return try decoders.decode(request, of: file, .jpeg, monitor: monitor) { planes in
        try planes.withBytes { memory in
          try whole.makeThumbnails(
            maker, decodedIn: memory, warnings: planes.warnings, monitor: monitor, deliver: deliver)
        }
      } + remarks
    case .jpeg(let bytes, _, let orientation, _):
      return try maker.makeThumbnails(
        of: bytes, orientation: orientation, options: options, decoding: decoding, monitor: monitor, deliver: deliver
      ).warnings + remarks
    case .decoder(let request, let header, let type, _):
      return try decoders.decode(request, of: file, type, monitor: monitor) { planes in
        let warnings = planes.warnings.filter { !$0.isEmpty }
        if options.failOn == .warning, let warning = warnings.first { throw ThumbnailError.imperfect(warning) }
        try planes.withBytes { memory in
          try maker.makeThumbnails(
            of: request, header: header, decodedIn: memory, profile: planes.profile ?? [], source: file.bytes,
            options: options, monitor: monitor, deliver: deliver)
        }
        return warnings + remarks + header.remarks.filter { !remarks.contains($0) }
      }
    }
  }
}
