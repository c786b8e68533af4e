import CLibJPEG

/// Makes the thumbnails of one source: reads the header, decodes the picture, then renders and encodes each size. It
/// works in its maker's ``DecodeWorkspace``.
///
/// From the outside in: libjpeg reads the header (``JPEGDecoder``). The ``DecodePlan`` decides at which scale the
/// picture is decoded, and which parts are left out: mostly all but the lowest frequencies of each block.
///
/// The ``BlockDecoder`` decodes faultless files. It reads the marker segments (``SegmentReader``, ``FrameHeader``,
/// ``HuffmanTables``, ``ScanHeader``), skips scans that the scale does not need, decodes the others (``ScanDecoder``),
/// and converts the coefficients to planes in place (``CoefficientStore``). In a sequential file, a ``BlockFinder``
/// first finds where blocks begin. It has three cursors at once, each of which passes several Huffman codes in one step
/// (``BlockWalk``, ``StepTables``). Then only the coefficients that are needed are decoded, from where each block
/// begins (``FoundBlocks``). The tables of the last sequential scan are kept (``KnownTables``), because the next file often
/// has the same codes.
///
/// For larger thumbnails, the pipeline decodes a row of MCUs (``CoefficientWalk``), transforms it to samples
/// (``InverseTransform``, ``BandTarget``), and resizes these (``BandedResize``), before it goes on to the next row. If the plan
/// is banded, it resizes the rows that libjpeg decodes in this way too.
///
/// If samples of a file are certainly wrong, the file is `corrupt`, and fails unless ``FailOn/truncated`` accepts that.
/// Any other file with a fault is `irregular`: the caller reserves the memory for decoding all of it, and libjpeg
/// decodes it or reports the fault.
///
/// Other pictures are decoded whole; the ``ThumbnailRenderer`` resizes them plane by plane (``Resampler``). It also converts
/// colours and turns the thumbnail, which the ``JPEGEncoder`` encodes. If
/// the options ask for a ``Placeholder``, it is made of the planes of the first thumbnail, reduced to a
/// ``SmallPicture``.
///
/// The names in the decoder are those of ITU-T T.81.
///
/// *Concurrency*: for the thread that uses its workspace.
struct ThumbnailPipeline {
  let source: ByteReader
  /// How the picture must be turned for display; nil if its EXIF block says so.
  var orientation: Orientation?
  let options: ThumbnailOptions
  let decoding: Decoding
  let monitor: (any ThumbnailMonitor)?
  let workspace: DecodeWorkspace

  /// Reads only a source's header.
  ///
  /// - parameter measuring: whether the decoder is used for the header alone, as in `JPEGDecoder`.
  static func readHeader(
    of source: ByteReader, orientation: Orientation?, failOn: FailOn, monitor: (any ThumbnailMonitor)?, measuring: Bool
  ) throws(ThumbnailError) -> (JPEGDecoder, SourceInfo) {
    monitor?.entered(.reading)
    if monitor?.isCancelled == true { throw .cancelled }
    let decoder = try JPEGDecoder(source: source, failOn: failOn, monitor: monitor, measuring: measuring)
    return (decoder, SourceInfo(decoder, orientation: orientation))
  }

  /// The placement of each size and the source's colour model. Throws if a limit is exceeded or the colours are
  /// unknown.
  static func plan(
    _ info: SourceInfo, _ decoder: JPEGDecoder, _ options: ThumbnailOptions
  ) throws(ThumbnailError) -> ([Placement], ColorModel) {
    let placements = try options.placements(for: info.pixels, info.orientation)
    guard let model = ColorModel(decoder.header) else { throw .unsupported("its colour space is unknown") }
    return (placements, model)
  }

  /// Makes every size from one decoding, as `ThumbnailMaker.makeThumbnails` describes.
  func run(deliver: (Thumbnail) throws -> Void) throws -> SourceInfo {
    defer { workspace.shrink() }
    let decoded = try decode()
    try ThumbnailRendering(options: options, monitor: monitor, workspace: workspace)
      .run(decoded.picture, decoded.placements, decoded.extras, deliver: deliver)
    return decoded.info
  }

  /// The result of decoding; the picture is in the workspace's buffers.
  typealias Decoded = (picture: RenderablePicture, placements: [Placement], extras: SourceExtras, info: SourceInfo)

  /// Reads the header and decodes the picture. The decoder is freed on return, because rendering does not need it.
  func decode() throws(ThumbnailError) -> Decoded {
    var (decoder, info) = try Self.readHeader(
      of: source, orientation: orientation, failOn: options.failOn, monitor: monitor, measuring: false)
    let (placements, model) = try Self.plan(info, decoder, options)
    monitor?.entered(.decoding)
    let plan = DecodePlan(info, for: placements, options, decoding)
    if plan.checksFirst { try workspace.check(decoder, info) }
    let job = Job(plan: plan, placements: placements, model: model)
    var result: Decoded
    switch try decode(job, decoder, info) {
    case .decoded(let picture, let extras, let remark):
      result = (picture, placements, extras, info)
      var known: String?
      if case .whole(let damage) = decoding { known = damage }
      result.info.warnings = decoder.warnings(knowing: known) + (remark.map { [$0] } ?? [])
    case .irregular(let damage):
      if plan.mayNeedMore, case .sparing = decoding { throw .irregular(damage: damage) }
      // Frees the memory of the first attempt.
      workspace.releasePlanes()
      decoder = try JPEGDecoder(source: source, failOn: options.failOn, monitor: monitor, progress: decoder.progress)
      let whole = Job(
        plan: DecodePlan(info, for: placements, options, .whole()), placements: placements, model: model)
      let (picture, extras) = try decodeByLibrary(whole, decoder, info, skippingFineScans: false)
      result = (picture, placements, extras, info)
      result.info.warnings = decoder.warnings(knowing: damage)
    }
    return result
  }

  /// What is decoded, and for what.
  private struct Job {
    let plan: DecodePlan
    let placements: [Placement]
    let model: ColorModel
  }

  /// The result of decoding according to a plan.
  private enum Attempt {
    /// The picture, and a flaw of the file that it does not show.
    case decoded(RenderablePicture, SourceExtras, remark: String?)
    /// Only decoding everything can identify the fault, if there is one, and decide whether the options accept it.
    case irregular(damage: String?)
  }

  private func decode(_ job: Job, _ decoder: JPEGDecoder, _ info: SourceInfo) throws(ThumbnailError) -> Attempt {
    switch job.plan.method {
    case .everything:
      let (picture, extras) = try decodeByLibrary(job, decoder, info, skippingFineScans: false)
      return .decoded(picture, extras, remark: nil)
    case .withoutFineScans:
      do {
        let (picture, extras) = try decodeByLibrary(job, decoder, info, skippingFineScans: true)
        return .decoded(picture, extras, remark: nil)
      } catch .truncated, .damaged, .corrupt {
        return .irregular(damage: nil)
      }
    case .blocks(let side):
      return try attempt { () throws(BlockDecoderError) in
        let (planes, lacksScans) = try workspace.decodeBlocks(decoder, info, side: side)
        return .decoded(
          .whole(picture(of: planes, job, info)), extras(decoder, job), remark: lacksScans ? CLIBJPEG_LACKS_SCANS : nil)
      }
    case .bands(let sides):
      let extras = extras(decoder, job)
      let (resize, picture) = try bands(BandTarget.layouts(info, sides: sides), job, info, extras)
      return try attempt { () throws(BlockDecoderError) in
        try workspace.decodeBands(decoder, info, sides: sides, into: resize, proceed: checkCancelled)
        do throws(ThumbnailError) { try resize.finish(proceed: checkCancelled) } catch { throw .failed(error) }
        return .decoded(picture, extras, remark: nil)
      }
    }
  }

  /// The result of a `BlockDecoder`, whose errors may be irregularities.
  private func attempt(_ decode: () throws(BlockDecoderError) -> Attempt) throws(ThumbnailError) -> Attempt {
    do {
      return try decode()
    } catch {
      switch error {
      case .irregular: return .irregular(damage: nil)
      case .corrupt(let corruption) where options.failOn == .truncated:
        return .irregular(damage: corruption.fault.rawValue)
      case .corrupt(let corruption): throw .corrupt(corruption.fault.rawValue)
      case .failed(let failure): throw failure
      }
    }
  }

  /// Prepares to resize a picture while it is decoded.
  private func bands(
    _ layouts: [BandedResize.Layout], _ job: Job, _ info: SourceInfo, _ extras: SourceExtras
  ) throws(ThumbnailError) -> (BandedResize, RenderablePicture) {
    let shape = PictureShape(
      pixels: info.pixels, orientation: info.orientation, model: job.model, planes: layouts.map(\.plane))
    let (resize, targets) = try workspace.resize(shape, layouts, job.placements, extras.conversion, options)
    return (resize, .resized(shape, targets))
  }

  /// Decodes with libjpeg. A banded plan resizes the picture at the same time.
  private func decodeByLibrary(
    _ job: Job, _ decoder: JPEGDecoder, _ info: SourceInfo, skippingFineScans: Bool
  ) throws(ThumbnailError) -> (RenderablePicture, SourceExtras) {
    let denominator = job.plan.denominator
    guard job.plan.isBanded else {
      let planes = try workspace.decode(decoder, denominator, skippingFineScans: skippingFineScans)
      return (.whole(picture(of: planes, job, info)), extras(decoder, job))
    }
    let extras = extras(decoder, job)
    let layouts = try decoder.setScale(denominator)
    let (resize, picture) = try bands(layouts.map { BandedResize.Layout($0) }, job, info, extras)
    try decoder.start(skippingFineScans: skippingFineScans)
    for _ in 0..<layouts[0].min_rows / layouts[0].band_rows {
      try decoder.readBand(into: resize.nextBand().map { clibjpeg_plane($0) })
      try resize.advance(proceed: checkCancelled)
    }
    try decoder.finish()
    try resize.finish(proceed: checkCancelled)
    return (picture, extras)
  }

  private func picture(of planes: [DecodedPlane], _ job: Job, _ info: SourceInfo) -> DecodedPicture {
    DecodedPicture(pixels: info.pixels, orientation: info.orientation, model: job.model, planes: planes)
  }

  private func extras(_ decoder: JPEGDecoder, _ job: Job) -> SourceExtras {
    SourceExtras(decoder, options.kept(of: job.model), workspace.profiles, job.model)
  }

  private func checkCancelled() throws(ThumbnailError) {
    if monitor?.isCancelled == true { throw .cancelled }
  }
}

extension BandedResize.Layout {
  fileprivate init(_ layout: clibjpeg_plane_layout) {
    let plane = PlaneShape(
      columns: layout.columns, rows: layout.rows, columnsExact: layout.columns_exact, rowsExact: layout.rows_exact)
    self.init(
      plane: plane, stride: layout.min_stride, bandRows: layout.band_rows, paddedRows: layout.min_rows)
  }
}

extension clibjpeg_plane {
  init(_ view: PlaneView) { self.init(data: view.base, stride: view.stride, rows: view.rows) }
}
