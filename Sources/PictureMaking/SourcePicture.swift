import Pictures
import Sourcing
import Thumbnails

/// A source of any format whose header has been read.
package struct SourcePicture {
  private enum Content {
    /// A JPEG file, or one in the file, which is turned like this for display.
    case jpeg(ByteReader, in: FileExtent, Orientation?, SourceInfo)
    case decoder(DecodeRequest, PictureHeader, ImageType, bytesNeeded: Int)
  }

  private let file: SourceFile
  private var content: Content
  /// Width and height as displayed.
  package let orientedPixels: PixelSize
  package let orientation: Orientation
  /// What the user should know of the file, whichever version of its picture is decoded.
  private var remarks: [String] = []
  /// Why its thumbnails are much smaller than asked for; nil if they are not.
  package private(set) var shortfall: String?
  /// The header of the whole picture, if a smaller version is decoded instead of it.
  private var whole: PictureHeader?

  /// Whether a decoder process decodes the whole picture, and so has read the file.
  package var isReadByDecoder: Bool {
    if case .decoder = content { whole == nil } else { false }
  }

  /// Reads the header.
  ///
  /// - Throws: `ThumbnailError`, also if limits are exceeded.
  package init(
    _ file: SourceFile, _ type: ImageType, for options: ThumbnailOptions, monitor: any ThumbnailMonitor
  ) throws(ThumbnailError) {
    let bytes = ByteReader(file.bytes) { !monitor.isCancelled }
    if type != .jpeg {
      monitor.entered(.reading)
      let whole = try PictureReader.readHeader(of: bytes, type: type)
      try self.init(file, type, whole, for: options, monitor: monitor)
      return
    }
    // Most JPEG files need no look at what else they contain.
    if options.previews == .prefer, let whole = try PictureReader.readPreviews(ofJPEG: bytes), !whole.reduced.isEmpty {
      monitor.entered(.reading)
      try self.init(file, type, whole, for: options, monitor: monitor)
      return
    }
    let info = try ThumbnailMaker.readInfo(of: file.bytes, for: options, monitor: monitor)
    self.init(file, info)
  }

  /// A whole JPEG file.
  private init(_ file: SourceFile, _ info: SourceInfo) {
    self.file = file
    content = .jpeg(file.bytes, in: FileExtent(offset: 0, size: UInt64(file.size)), nil, info)
    (orientedPixels, orientation) = (info.orientedPixels, info.orientation)
  }

  /// Chooses the version of the picture that is decoded: the whole one if the header of a smaller one cannot be read.
  private init(
    _ file: SourceFile, _ type: ImageType, _ whole: PictureHeader, for options: ThumbnailOptions,
    monitor: any ThumbnailMonitor
  ) throws(ThumbnailError) {
    do throws(ThumbnailError) {
      try self.init(file, type, versionOf: whole, for: options, monitor: monitor)
    } catch {
      guard let copy = whole.withoutSmallerVersions(after: .source(error), for: options) else { throw error }
      try self.init(file, type, versionOf: copy, for: options, monitor: monitor)
    }
  }

  private init(
    _ file: SourceFile, _ type: ImageType, versionOf whole: PictureHeader, for options: ThumbnailOptions,
    monitor: any ThumbnailMonitor
  ) throws(ThumbnailError) {
    self.file = file
    (orientedPixels, orientation) = (whole.orientedPixels, whole.orientation)
    (remarks, shortfall) = (whole.remarks, try whole.shortfall(for: options))
    switch try whole.plan(for: options) {
    case .jpeg(let extent, let orientation):
      let bytes = ByteReader(part: extent.offset, size: Int(clamping: extent.size), of: file.bytes)
      let info = try ThumbnailMaker.readInfo(of: bytes, orientation: orientation, for: options, monitor: monitor)
      content = .jpeg(bytes, in: extent, orientation, info)
      if whole.coding != .jpeg(extent) { self.whole = whole }
    case .decoder(let request, let version):
      content = .decoder(
        request, version, type, bytesNeeded: try request.bytesNeeded(for: options, header: version))
      if whole.coding != version.coding { self.whole = whole }
    }
  }

  /// The same picture, of which no smaller version is decoded; nil if none was to be, or if that would fail too.
  ///
  /// - Parameter failure: why the thumbnails could not be made of the smaller version.
  /// - Throws: `ThumbnailError`, also if limits are exceeded.
  private func withoutSmallerVersion(
    after failure: SourceFailure, for options: ThumbnailOptions, monitor: any ThumbnailMonitor
  ) throws(ThumbnailError) -> SourcePicture? {
    guard let copy = whole?.withoutSmallerVersions(after: failure, for: options) else { return nil }
    return try SourcePicture(file, copy.type, versionOf: copy, for: options, monitor: monitor)
  }

  /// The peak memory for making the thumbnails, in bytes, beyond that of an idle maker and an idle helper process.
  package func bytesNeeded(for options: ThumbnailOptions, decoding: Decoding) -> Int {
    switch content {
    case .jpeg(_, _, _, let info): info.bytesNeeded(for: options, decoding: decoding)
    case .decoder(_, _, _, let bytes): bytes
    }
  }

  /// The same picture with the memory that rare ones take; nil if its format has no such.
  private var withRareMemory: SourcePicture? {
    guard case .decoder(let request, let header, let type, let bytes) = content, header.rareBytes > 0 else {
      return nil
    }
    var copy = self
    copy.content = .decoder(
      request.allowing(more: header.rareBytes), header, type, bytesNeeded: bytes + header.rareBytes)
    return copy
  }

  /// Has thumbnails made of this picture; and if they fail for a reason that another way of decoding may not have, in that way:
  /// from a whole decoding if the picture turns out to be irregular, with the memory that rare pictures take, or of the whole
  /// picture instead of a smaller version of it.
  ///
  /// - Parameters:
  ///   - decoding: how it is decoded first. Afterwards, how it was decoded in the end.
  ///   - isSuspect: whether the file may be why earlier runs died.
  ///   - make: reserves the memory and makes the thumbnails.
  /// - Throws: the error of the last way.
  package func attempt(
    _ decoders: PictureDecoders, _ plan: MemoryPlan, for options: ThumbnailOptions, _ decoding: inout Decoding,
    isSuspect: Bool, monitor: any ThumbnailMonitor, _ make: (SourcePicture, Decoding) throws -> Void
  ) throws {
    do {
      try attempt(&decoding, make)
    } catch {
      guard
        let whole = try withoutSmallerVersion(after: SourceFailure(error, plan: plan), for: options, monitor: monitor)
      else { throw error }
      decoding = decoders.firstDecoding(isSuspect: isSuspect)
      try whole.attempt(&decoding, make)
    }
  }

  private func attempt(_ decoding: inout Decoding, _ make: (SourcePicture, Decoding) throws -> Void) throws {
    do {
      try make(self, decoding)
    } catch ThumbnailError.irregular(let damage) where !file.isCut {
      decoding = .whole(damage: damage)
      try make(self, decoding)
    } catch let failure as SourceFailure {
      guard case .decoder(_, .memory) = failure, let larger = withRareMemory else { throw failure }
      try make(larger, decoding)
    }
  }

  /// Makes every size, in the order of the options, and delivers each when it is done.
  ///
  /// - Returns: what the user should know of the source.
  /// - Throws: `ThumbnailError`, ``SourceFailure``, and the errors of `deliver`.
  package func makeThumbnails(
    _ maker: ThumbnailMaker, _ decoders: PictureDecoders, options: ThumbnailOptions, decoding: Decoding,
    monitor: any ThumbnailMonitor, deliver: (Thumbnail) throws -> Void
  ) throws -> [String] {
    maker.encoder = decoders.encoder(for: file)
    defer { maker.encoder = nil }
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

extension PictureHeader {
  /// The header without the smaller versions of the picture; nil if there are none, or if the whole picture would fail too.
  fileprivate func withoutSmallerVersions(
    after failure: SourceFailure, for options: ThumbnailOptions
  ) -> PictureHeader? {
    // At `warning`, a flaw that the thumbnails do not show counts.
    guard !reduced.isEmpty, failure.isOfVersion, options.failOn != .warning else { return nil }
    var copy = self
    copy.reduced = []
    copy.remarks.append("a smaller version of it in the file is not used: \(failure)")
    return copy
  }
}
