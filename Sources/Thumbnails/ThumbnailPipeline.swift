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
/// begins (``FoundBlocks``). The step and value tables of the last sequential scan are kept (``KnownTables``), because
/// the next file often has the same codes.
///
/// If samples of a file are certainly wrong, the file is `corrupt`, and fails unless ``FailOn/truncated`` accepts that.
/// Any other file with a fault is `irregular`: the caller reserves the memory for decoding all of it, and libjpeg
/// decodes it or reports the fault.
///
/// The ``ThumbnailRenderer`` resizes plane by plane (``Resampler``), and the ``JPEGEncoder`` encodes the thumbnail. If
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
  typealias Decoded = (picture: DecodedPicture, placements: [Placement], extras: SourceExtras, info: SourceInfo)

  /// Reads the header and decodes the picture. The decoder is freed on return, because rendering does not need it.
  func decode() throws(ThumbnailError) -> Decoded {
    var (decoder, info) = try Self.readHeader(
      of: source, orientation: orientation, failOn: options.failOn, monitor: monitor, measuring: false)
    let (placements, model) = try Self.plan(info, decoder, options)
    monitor?.entered(.decoding)
    let plan = DecodePlan(info, for: placements, options, decoding)
    if plan.checksFirst { try workspace.check(decoder, info) }
    let planes: [DecodedPlane]
    switch try decode(plan, decoder, info) {
    case .decoded(let decoded, let remark):
      planes = decoded
      var known: String?
      if case .whole(let damage) = decoding { known = damage }
      info.warnings = decoder.warnings(knowing: known) + (remark.map { [$0] } ?? [])
    case .irregular(let damage):
      if case .blocks = plan.method, case .sparing = decoding { throw .irregular(damage: damage) }
      // Frees the memory of the first attempt.
      workspace.releasePlanes()
      decoder = try JPEGDecoder(source: source, failOn: options.failOn, monitor: monitor, progress: decoder.progress)
      let whole = DecodePlan(info, for: placements, options, .whole())
      planes = try workspace.decode(decoder, whole.denominator, skippingFineScans: false)
      info.warnings = decoder.warnings(knowing: damage)
    }
    let picture = DecodedPicture(pixels: info.pixels, orientation: info.orientation, model: model, planes: planes)
    return (picture, placements, SourceExtras(decoder, options.keep, workspace.profiles, model), info)
  }

  /// The result of decoding according to a plan.
  private enum Attempt {
    /// The planes, and a flaw of the file that they do not show.
    case decoded([DecodedPlane], remark: String?)
    /// Only decoding everything can identify the fault, if there is one, and decide whether the options accept it.
    case irregular(damage: String?)
  }

  private func decode(
    _ plan: DecodePlan, _ decoder: JPEGDecoder, _ info: SourceInfo
  ) throws(ThumbnailError) -> Attempt {
    switch plan.method {
    case .everything:
      return .decoded(try workspace.decode(decoder, plan.denominator, skippingFineScans: false), remark: nil)
    case .withoutFineScans:
      do {
        return .decoded(try workspace.decode(decoder, plan.denominator, skippingFineScans: true), remark: nil)
      } catch .truncated, .damaged, .corrupt {
        return .irregular(damage: nil)
      }
    case .blocks(let side):
      do {
        let (planes, lacksScans) = try workspace.decodeBlocks(decoder, info, side: side)
        return .decoded(planes, remark: lacksScans ? CLIBJPEG_LACKS_SCANS : nil)
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
  }
}
