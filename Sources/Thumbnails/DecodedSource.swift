/// A source that has been decoded before its thumbnails are made. It holds the decoded pixels, at the scale that its
/// thumbnails need, as long as it exists. `ThumbnailMaker.makeThumbnails`, which jobs use, holds them only during the
/// call.
///
/// *Concurrency*: for one thread at a time, which may be a different one for each call.
public final class DecodedSource: @unchecked Sendable {  // used by one thread at a time
  private let pipeline: ThumbnailPipeline
  private let decoded: ThumbnailPipeline.Decoded

  /// Reads and decodes a source, which is not read again afterwards.
  ///
  /// - throws: `ThumbnailError`.
  public init(_ source: ByteReader, options: ThumbnailOptions) throws(ThumbnailError) {
    // The workspace is not shared, because its buffers hold the pixels.
    pipeline = ThumbnailPipeline(
      source: source, options: options, decoding: .automatic, monitor: nil, workspace: DecodeWorkspace())
    decoded = try pipeline.decode()
  }

  /// Makes every size, in the order of the options. The bytes equal those of `ThumbnailMaker.makeThumbnails`.
  ///
  /// - throws: `ThumbnailError`, and the errors of `deliver`.
  public func makeThumbnails(deliver: (Thumbnail) throws -> Void) throws {
    try pipeline.render(decoded, deliver: deliver)
  }
}
