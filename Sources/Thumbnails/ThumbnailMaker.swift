import CLibJPEG

/// Makes thumbnails of one source after the other.
///
/// Buffers, filters and profiles stay from one source to the next; the bytes that come out do not depend on what came
/// before.
///
/// *Concurrency*: for one thread at a time; makers share nothing, so have one for each worker.
public final class ThumbnailMaker {
  private let renderer = ThumbnailRenderer()
  private let profiles = ProfileReader()
  private var buffers: [PlaneBuffer] = []
  private var encoder: JPEGEncoder?

  public init() {}

  /// Reads a source's header, and nothing more of it.
  ///
  /// - parameter options: what would be made; its limits are kept then.
  /// - throws: `ThumbnailError` as `makeThumbnails` would for the same header.
  public func readInfo(
    of source: ByteSource, for options: ThumbnailOptions? = nil
  ) throws(ThumbnailError) -> SourceInfo {
    let decoder = try JPEGDecoder(source: source, failOn: options?.failOn ?? .error, monitor: nil)
    let info = Self.info(decoder)
    if let options {
      try Self.checkLimits(info, options.sizes.map { $0.placement(for: info.orientedPixels) }, options)
    }
    return info
  }

  /// Makes every size of one source from one decoding, in the order asked for, and hands each over as it is done.
  ///
  /// - parameters:
  ///   - monitor: told of progress, and asked whether to stop.
  ///   - deliver: takes a thumbnail; what it throws comes out here unchanged.
  /// - returns: what the header said, and what decoding remarked upon.
  /// - throws: `ThumbnailError`, and whatever `deliver` throws.
  @discardableResult
  public func makeThumbnails(
    of source: ByteSource, options: ThumbnailOptions, monitor: (any ThumbnailMonitor)? = nil,
    deliver: (Thumbnail) throws -> Void
  ) throws -> SourceInfo {
    monitor?.entered(.reading)
    if monitor?.isCancelled == true { throw ThumbnailError.cancelled }
    var decoder = try JPEGDecoder(source: source, failOn: options.failOn, monitor: monitor)
    var info = Self.info(decoder)
    let placements = options.sizes.map { $0.placement(for: info.orientedPixels) }
    try Self.checkLimits(info, placements, options)
    guard let model = ColorModel(decoder.header) else { throw ThumbnailError.unsupported("its colours") }

    monitor?.willHold(bytes: info.bytesNeeded(for: options))
    monitor?.entered(.decoding)
    let denominator = DecodeScale.choose(for: placements, linear: options.linear)
    let skips = denominator == 8 && DecodeScale.canSkipDetail(of: info, for: placements, options)
    var planes = skips ? try decodeSkippingDetail(decoder) : nil
    if planes == nil {
      if skips {
        decoder = try JPEGDecoder(
          source: source, failOn: options.failOn, monitor: monitor, progress: decoder.progress)
      }
      planes = try decode(decoder, denominator, skippingDetail: false)
    }
    info.warnings = decoder.warnings
    let picture = DecodedPicture(
      pixels: info.pixels, orientation: info.orientation, model: model, planes: planes ?? [])
    let extras = Extras(decoder, options.keep, profiles, model)

    for (index, size) in options.sizes.enumerated() {
      if monitor?.isCancelled == true { throw ThumbnailError.cancelled }
      let placement = placements[index]
      monitor?.entered(.resizing)
      let rendered = try renderer.render(
        picture, placement, conversion: extras.conversion, options: options,
        proceed: { () throws(ThumbnailError) in if monitor?.isCancelled == true { throw .cancelled } })
      monitor?.entered(.encoding)
      let bytes = try currentEncoder().encode(
        rendered, pixels: placement.pixels, halfChroma: ThumbnailRenderer.halvesChroma(options), options: options,
        metadata: extras.metadata(for: placement.pixels), monitor: monitor)
      try deliver(Thumbnail(size: size, pixels: placement.pixels, bytes: bytes))
      let done = Double(index + 1) / Double(options.sizes.count)
      monitor?.progressed(to: DecoderProgress.share + (1 - DecoderProgress.share) * done)
    }
    return info
  }

  /// Gives back the memory kept for the next source.
  public func trim() {
    renderer.trim()
    profiles.trim()
    buffers = []
    encoder?.trim()
  }

  private static func info(_ decoder: JPEGDecoder) -> SourceInfo {
    SourceInfo(
      decoder.header, orientation: ExifOrientation.read(decoder.exif), hasProfile: !decoder.profile.isEmpty)
  }

  private static func checkLimits(
    _ info: SourceInfo, _ placements: [Placement], _ options: ThumbnailOptions
  ) throws(ThumbnailError) {
    if info.pixels.count > options.limitPixels {
      throw .tooManyPixels(info.pixels, limit: options.limitPixels)
    }
    for placement in placements where placement.pixels.count > options.limitPixels {
      throw .thumbnailTooLarge(placement.pixels, limit: options.limitPixels)
    }
  }

  private func decode(
    _ decoder: JPEGDecoder, _ denominator: Int, skippingDetail: Bool
  ) throws(ThumbnailError) -> [DecodedPlane] {
    let layouts = try decoder.setScale(denominator)
    while buffers.count < layouts.count { buffers.append(PlaneBuffer()) }
    var planes: [DecodedPlane] = []
    var targets: [tj_plane] = []
    for (layout, buffer) in zip(layouts, buffers) {
      let view = try buffer.plane(
        columns: layout.columns, rows: layout.rows, stride: layout.min_stride, paddedRows: layout.min_rows)
      planes.append(
        DecodedPlane(view: view, columnsExact: layout.columns_exact, rowsExact: layout.rows_exact))
      targets.append(tj_plane(data: view.base, stride: layout.min_stride, rows: layout.min_rows))
    }
    try decoder.decode(into: targets, skippingDetail: skippingDetail)
    return planes
  }

  /// Decodes at 1/8 without the scans of detail; nil where something is wrong with the file: what it is, and whether it
  /// matters, is told by decoding all of it.
  private func decodeSkippingDetail(_ decoder: JPEGDecoder) throws(ThumbnailError) -> [DecodedPlane]? {
    do {
      return try decode(decoder, 8, skippingDetail: true)
    } catch {
      switch error {
      case .truncated, .damaged, .corrupt: return nil
      default: throw error
      }
    }
  }

  private func currentEncoder() throws(ThumbnailError) -> JPEGEncoder {
    if let encoder { return encoder }
    let made = try JPEGEncoder()
    encoder = made
    return made
  }
}

/// What comes with a source's picture: the conversion its profile asks for, and the metadata to keep.
private struct Extras {
  private(set) var conversion = ProfileConversion.identity
  private var profile: [UInt8] = []
  private var exif: ExifBlock?
  private var copyright: [UInt8] = []

  init(_ decoder: JPEGDecoder, _ keep: KeptMetadata, _ profiles: ProfileReader, _ model: ColorModel) {
    if keep.contains(.exif) {
      exif = ExifBlock(decoder.exif)
    } else if keep.contains(.copyright) {
      copyright = ExifBlock(decoder.exif)?.takeCopyright() ?? []
    }
    guard !decoder.profile.isEmpty else { return }
    let found = profiles.conversion(for: decoder.profile, kind: model.profileKind)
    if keep.contains(.icc), model.profileKind != .cmyk {
      if case .unusable = found { return }
      profile = Array(decoder.profile)
    } else {
      conversion = found
    }
  }

  func metadata(for pixels: PixelSize) -> JPEGEncoder.Metadata {
    JPEGEncoder.Metadata(exif: exif?.whole(for: pixels) ?? copyright, profile: profile)
  }
}
