/// Makes thumbnails of one source after the other.
///
/// Small buffers, filters and profiles stay from one source to the next, 5 MiB at the most; the bytes that come
/// out do not depend on what came before.
///
/// *Concurrency*: for one thread at a time, with the sources it has opened; makers share nothing, so have one for each
/// worker.
public final class ThumbnailMaker {
  private let workspace = DecodeWorkspace()

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
    let (decoder, info) = try ThumbnailPipeline.readHeader(
      of: source, failOn: options?.failOn ?? .error, monitor: monitor, measuring: true)
    if let options { _ = try ThumbnailPipeline.plan(info, decoder, options) }
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
    try ThumbnailPipeline(source: source, options: options, decoding: decoding, monitor: monitor, workspace: workspace)
      .run(deliver: deliver)
  }

  /// What a maker keeps from one source to the next at the most, in bytes.
  /// For a budget: whoever uses one holds this too.
  public static let bytesKept = 5 << 20

  /// Gives back the memory kept for the next source.
  public func trim() { workspace.trim() }
}
