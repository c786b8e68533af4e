/// Makes thumbnails of one source after the other.
///
/// Small buffers, filters, lookup tables and profiles are kept from one source to the next, at most 5 MiB. Thumbnails do
/// not depend on earlier sources.
///
/// *Concurrency*: for one thread at a time, together with the source that it reads. Makers share nothing, so each
/// worker should have its own.
public final class ThumbnailMaker {
  let workspace = DecodeWorkspace()

  public init() {}

  /// Encodes formats other than JPEG, for the options that ask for them.
  package var encoder: (any ThumbnailEncoder)? {
    get { workspace.otherEncoder }
    set { workspace.otherEncoder = newValue }
  }

  /// Reads a source's header, so that the memory for its thumbnails (`SourceInfo.bytesNeeded(for:decoding:)`) can be
  /// reserved before it is allocated. Reading takes well under a mebibyte, which is freed afterwards.
  ///
  /// - parameters:
  ///   - source: the file to read.
  ///   - orientation: how the picture must be turned for display; nil if its EXIF block says so.
  ///   - options: the thumbnails to be made. If given, their limits are checked.
  ///   - monitor: observes the stage, and decides whether to stop.
  /// - throws: `ThumbnailError` as `makeThumbnails` would for the same header.
  public static func readInfo(
    of source: ByteReader, orientation: Orientation? = nil, for options: ThumbnailOptions? = nil,
    monitor: (any ThumbnailMonitor)? = nil
  ) throws(ThumbnailError) -> SourceInfo {
    let (decoder, info) = try ThumbnailPipeline.readHeader(
      of: source, orientation: orientation, failOn: options?.failOn ?? .error, monitor: monitor, measuring: true)
    if let options { _ = try ThumbnailPipeline.plan(info, decoder, options) }
    return info
  }

  /// Makes every size of one source from one decoding, in the order of the options, and delivers each when it is done.
  ///
  /// - parameters:
  ///   - source: the file to decode.
  ///   - orientation: as for `readInfo`.
  ///   - options: the sizes to make, and how.
  ///   - decoding: how much of the source may be decoded, which determines the memory that it takes.
  ///   - monitor: observes progress, and decides whether to stop.
  ///   - deliver: receives each thumbnail; its errors are rethrown.
  /// - returns: the header's information, and the decoder's warnings.
  /// - throws: `ThumbnailError`, and the errors of `deliver`.
  @discardableResult
  public func makeThumbnails(
    of source: ByteReader, orientation: Orientation? = nil, options: ThumbnailOptions, decoding: Decoding = .automatic,
    monitor: (any ThumbnailMonitor)? = nil, deliver: (Thumbnail) throws -> Void
  ) throws -> SourceInfo {
    try ThumbnailPipeline(
      source: source, orientation: orientation, options: options, decoding: decoding, monitor: monitor,
      workspace: workspace
    ).run(deliver: deliver)
  }

  /// The most memory that a maker keeps from one source to the next, in bytes. A caller with a memory budget should add
  /// it for each maker in use.
  public static let bytesKept = 5 << 20

  /// The fraction of a source's work that is done once it is decoded.
  package static let decodingShare = DecoderProgress.share

  /// Frees the memory kept for the next source.
  public func trim() { workspace.trim() }
}
