/// The thumbnails of one source before they are encoded: resized, in sRGB and upright. It holds the samples of every size
/// as long as it exists: at 4:2:0, 1.5 bytes for each pixel of a size. `ThumbnailMaker.makeThumbnails`, which jobs use,
/// holds them only during the call.
///
/// *Concurrency*: immutable.
public final class RenderedThumbnails: @unchecked Sendable {  // nothing writes to its planes any more
  /// One thumbnail.
  struct Rendered {
    let rendition: Rendition
    /// Its memory is `samples`.
    let picture: RenderedPicture
    let samples: PlaneBuffer
    let metadata: ThumbnailMetadata
  }

  let options: ThumbnailOptions
  /// In the order of the options.
  let thumbnails: [Rendered]
  let placeholder: Placeholder?

  /// Reads, decodes and renders a source, which is not read again afterwards.
  ///
  /// - throws: `ThumbnailError`.
  init(
    _ source: ByteReader, options: ThumbnailOptions, workspace: DecodeWorkspace
  ) throws(ThumbnailError) {
    self.options = options
    let pipeline = ThumbnailPipeline(
      source: source, options: options, decoding: .automatic, monitor: nil, workspace: workspace)
    defer { workspace.shrink() }
    let decoded = try pipeline.decode()
    let rendering = ThumbnailRendering(options: options, monitor: nil, workspace: workspace)
    var thumbnails: [Rendered] = []
    var placeholder: Placeholder?
    for (index, placement) in decoded.placements.enumerated() {
      let rendition = options.renditions[index]
      // `finish` converts planes in place, so it must not run twice on the same planes.
      if let last = thumbnails.last, decoded.placements[index - 1] == placement {
        thumbnails.append(
          Rendered(rendition: rendition, picture: last.picture, samples: last.samples, metadata: last.metadata))
        continue
      }
      let rendered = try rendering.render(decoded.picture, index, placement, decoded.extras, &placeholder)
      let (picture, samples) = try Self.copy(rendered)
      thumbnails.append(
        Rendered(
          rendition: rendition, picture: picture, samples: samples,
          metadata: decoded.extras.metadata(for: placement.pixels)))
    }
    (self.thumbnails, self.placeholder) = (thumbnails, placeholder)
  }

  /// Copies planes into memory of their own, because the next picture overwrites the workspace's.
  private static func copy(_ picture: RenderedPicture) throws(ThumbnailError) -> (RenderedPicture, PlaneBuffer) {
    let planes = picture.colors + (picture.alpha.map { [$0] } ?? [])
    let buffer = PlaneBuffer()
    let bytes = planes.reduce(0) { $0 + $1.rows * $1.columns }
    let memory = try buffer.plane(columns: bytes, rows: 1)
    var next = memory.base
    let copies = planes.map { plane in
      let copy = PlaneView(base: next, columns: plane.columns, rows: plane.rows, stride: plane.columns)
      for row in 0..<plane.rows { copy.row(row).update(from: plane.row(row), count: plane.columns) }
      next += plane.rows * plane.columns
      return copy
    }
    let copy = RenderedPicture(
      pixels: picture.pixels, colors: Array(copies.prefix(picture.colors.count)),
      alpha: picture.alpha == nil ? nil : copies.last, layout: picture.layout)
    return (copy, buffer)
  }
}

extension ThumbnailMaker {
  /// Decodes a source and renders every size of it, without encoding any. Together with ``encode(_:deliver:)`` this does
  /// what `makeThumbnails` does, in two steps that may be on two threads.
  ///
  /// - parameters:
  ///   - source: the file to decode.
  ///   - options: the sizes to make, and how.
  /// - throws: `ThumbnailError`.
  public func render(_ source: ByteReader, options: ThumbnailOptions) throws(ThumbnailError) -> RenderedThumbnails {
    try RenderedThumbnails(source, options: options, workspace: workspace)
  }

  /// Encodes every size, in the order of the options. The bytes equal those of `makeThumbnails`.
  ///
  /// - throws: `ThumbnailError`, and the errors of `deliver`.
  public func encode(_ rendered: RenderedThumbnails, deliver: (Thumbnail) throws -> Void) throws {
    defer { workspace.shrink() }
    let rendering = ThumbnailRendering(options: rendered.options, monitor: nil, workspace: workspace)
    for each in rendered.thumbnails {
      let rendition = each.rendition
      try rendering.encode(each.picture, as: rendition.format, each.metadata).withBytes { bytes in
        try deliver(
          Thumbnail(
            size: rendition.size, format: rendition.format, pixels: each.picture.pixels, bytes: bytes,
            placeholder: rendered.placeholder))
      }
    }
    withExtendedLifetime(rendered) {}
  }
}
