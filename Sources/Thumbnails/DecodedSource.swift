/// A source decoded ahead of what is to be made of it. It holds the pixels, at the scale that its thumbnails need, for as
/// long as it lives; `ThumbnailMaker.makeThumbnails` holds them only while it works, and is what a job uses.
///
/// *Concurrency*: for one thread at a time, and it may go from one to another between.
public final class DecodedSource: @unchecked Sendable {  // one thread at a time, as said
  private let pipeline: ThumbnailPipeline
  private let decoded: ThumbnailPipeline.Decoded

  /// Reads and decodes a source, which is not read any more afterwards.
  ///
  /// - throws: `ThumbnailError`.
  public init(_ source: ByteSource, options: ThumbnailOptions) throws(ThumbnailError) {
    // A workspace of its own, because the pixels stand in its buffers.
    pipeline = ThumbnailPipeline(
      source: source, options: options, decoding: .automatic, monitor: nil, workspace: DecodeWorkspace())
    decoded = try pipeline.decode()
  }

  /// Makes every size, in the order asked for: the same bytes as `ThumbnailMaker.makeThumbnails` from the same source.
  ///
  /// - throws: `ThumbnailError`, and whatever `deliver` throws.
  public func makeThumbnails(deliver: (Thumbnail) throws -> Void) throws {
    try pipeline.render(decoded, deliver: deliver)
  }
}
