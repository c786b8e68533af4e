import CLibJPEG

/// Makes thumbnails of one source after the other.
///
/// Small buffers, filters and profiles stay from one source to the next, 5 MiB at the most; the bytes that come
/// out do not depend on what came before.
///
/// *Concurrency*: for one thread at a time, with the sources it has opened; makers share nothing, so have one for each
/// worker.
public final class ThumbnailMaker {
  let renderer = ThumbnailRenderer()
  let profiles = ProfileReader()
  private var buffers: [PlaneBuffer] = []
  private var encoder: JPEGEncoder?

  public init() {}

  /// Reads a source's header, so that what its thumbnails take (`SourceInfo.bytesNeeded(for:decoding:)`) can be reserved
  /// before any of it is taken. While it reads it holds well under a mebibyte, afterwards nothing.
  ///
  /// - parameters:
  ///   - options: what would be made; its limits are kept then.
  ///   - monitor: told of the stage, and asked whether to stop.
  /// - throws: `ThumbnailError` as `makeThumbnails` would for the same header.
  public static func readInfo(
    of source: ByteSource, for options: ThumbnailOptions? = nil, monitor: (any ThumbnailMonitor)? = nil
  ) throws(ThumbnailError) -> SourceInfo {
    let (decoder, info) = try ThumbnailMaking.readHeader(
      of: source, failOn: options?.failOn ?? .error, monitor: monitor, measuring: true)
    if let options { _ = try ThumbnailMaking.plan(info, decoder, options) }
    return info
  }

  /// Makes every size of one source from one decoding, in the order asked for, and hands each over as it is done.
  ///
  /// - parameters:
  ///   - decoding: how much of the source may be decoded, and so the memory that it takes.
  ///   - monitor: told of progress, and asked whether to stop.
  ///   - deliver: takes a thumbnail; what it throws comes out here unchanged.
  /// - returns: what the header said, and what decoding remarked upon.
  /// - throws: `ThumbnailError`, and whatever `deliver` throws.
  @discardableResult
  public func makeThumbnails(
    of source: ByteSource, options: ThumbnailOptions, decoding: Decoding = .automatic,
    monitor: (any ThumbnailMonitor)? = nil, deliver: (Thumbnail) throws -> Void
  ) throws -> SourceInfo {
    try ThumbnailMaking(source: source, options: options, decoding: decoding, monitor: monitor, maker: self)
      .run(deliver: deliver)
  }

  /// What a maker keeps from one source to the next at the most, in bytes.
  /// For a budget: whoever uses one holds this too.
  public static let bytesKept = 5 << 20

  /// Gives back the memory kept for the next source.
  public func trim() {
    renderer.trim()
    profiles.trim()
    buffers = []
    encoder?.trim()
  }

  /// Bytes of samples kept from one source to the next: the buffers of most photos at their decode scale.
  private static let samplesKept = 3 << 19

  /// Gives back what is too much to be kept.
  func settle() {
    var left = Self.samplesKept
    for buffer in buffers + renderer.buffers { buffer.keep(within: &left) }
    encoder?.settle()
  }

  func releasePlanes() {
    for buffer in buffers { buffer.release() }
  }

  func decodeBlocks(_ decoder: JPEGDecoder, _ info: SourceInfo, side: Int) throws(BlockDecoderError) -> [DecodedPlane] {
    while buffers.count < 2 { buffers.append(PlaneBuffer()) }
    var blocks = BlockDecoder(decoder.input, header: info, side: side)
    return try blocks.decode(into: buffers[0], masksIn: buffers[1])
  }

  func decode(
    _ decoder: JPEGDecoder, _ denominator: Int, skippingFineScans: Bool
  ) throws(ThumbnailError) -> [DecodedPlane] {
    let layouts = try decoder.setScale(denominator)
    while buffers.count < layouts.count { buffers.append(PlaneBuffer()) }
    var planes: [DecodedPlane] = []
    var targets: [clibjpeg_plane] = []
    for (layout, buffer) in zip(layouts, buffers) {
      let view = try buffer.plane(
        columns: layout.columns, rows: layout.rows, stride: layout.min_stride, paddedRows: layout.min_rows)
      planes.append(
        DecodedPlane(view: view, columnsExact: layout.columns_exact, rowsExact: layout.rows_exact))
      targets.append(clibjpeg_plane(data: view.base, stride: layout.min_stride, rows: layout.min_rows))
    }
    try decoder.decode(into: targets, skippingFineScans: skippingFineScans)
    return planes
  }

  func currentEncoder() throws(ThumbnailError) -> JPEGEncoder {
    if let encoder { return encoder }
    let made = try JPEGEncoder()
    encoder = made
    return made
  }
}
