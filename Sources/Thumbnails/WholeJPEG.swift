import CLibJPEG

/// A JPEG file of which another process decodes every sample with libjpeg. Only its header is read here.
///
/// *Concurrency*: for one thread at a time.
package final class WholeJPEG {
  /// Width and height as stored.
  package var pixels: PixelSize { info.pixels }
  /// The scale is 1/`denominator`.
  package let denominator: Int
  /// A bit for each class of libjpeg's warnings that ends decoding, as `clibjpeg_decoder_read_header` has it.
  package let failMask: UInt32
  /// The memory of each plane: the bytes of a row, and the rows. They hold whole MCUs.
  package let planes: [(stride: Int, rows: Int)]
  private let layouts: [clibjpeg_plane_layout]
  private let decoder: JPEGDecoder
  private let info: SourceInfo
  private let placements: [Placement]
  private let model: ColorModel
  private let options: ThumbnailOptions
  private let damage: String?

  /// - parameters:
  ///   - source: the file.
  ///   - orientation: how the picture must be turned for display; nil if its EXIF block says so.
  ///   - decoding: what is known of the file.
  ///   - maker: checks the file if the options ask for that.
  /// - throws: `ThumbnailError` as `ThumbnailMaker.readInfo`.
  package init(
    _ source: ByteReader, orientation: Orientation?, options: ThumbnailOptions, decoding: Decoding,
    monitor: (any ThumbnailMonitor)?, maker: ThumbnailMaker
  ) throws(ThumbnailError) {
    (decoder, info) = try ThumbnailPipeline.readHeader(
      of: source, orientation: orientation, failOn: options.failOn, monitor: monitor, measuring: false)
    (placements, model) = try ThumbnailPipeline.plan(info, decoder, options)
    let plan = DecodePlan(info, for: placements, options, .whole())
    if plan.checksFirst { try maker.workspace.check(decoder, info) }
    denominator = plan.denominator
    failMask = options.failOn.mask
    layouts = try decoder.setScale(denominator)
    planes = layouts.map { ($0.min_stride, $0.min_rows) }
    self.options = options
    damage = if case .whole(let damage) = decoding { damage } else { nil }
  }

  /// Makes every size, in the order of the options, and delivers each when it is done.
  ///
  /// - parameters:
  ///   - memory: the planes, one after the other.
  ///   - warnings: libjpeg's, the first of each class, or empty strings.
  ///   - deliver: receives each thumbnail; its errors are rethrown.
  /// - returns: what the user should know of the source.
  /// - throws: `ThumbnailError`, and the errors of `deliver`.
  package func makeThumbnails(
    _ maker: ThumbnailMaker, decodedIn memory: UnsafeRawBufferPointer, warnings: [String],
    monitor: (any ThumbnailMonitor)?, deliver: (Thumbnail) throws -> Void
  ) throws -> [String] {
    precondition(memory.count >= planes.reduce(0) { $0 + $1.stride * $1.rows }, "the memory for planes is too small")
    defer { maker.workspace.shrink() }
    var decoded: [DecodedPlane] = []
    var offset = 0
    for layout in layouts {
      // Nothing writes to the planes of a picture.
      let base = UnsafeMutableRawPointer(mutating: memory.baseAddress! + offset).assumingMemoryBound(to: UInt8.self)
      let view = PlaneView(base: base, columns: layout.columns, rows: layout.rows, stride: layout.min_stride)
      decoded.append(
        DecodedPlane(view: view, columnsExact: layout.columns_exact, rowsExact: layout.rows_exact))
      offset += layout.min_stride * layout.min_rows
    }
    let picture = DecodedPicture(pixels: info.pixels, orientation: info.orientation, model: model, planes: decoded)
    let extras = SourceExtras(decoder, options.kept(of: model), maker.workspace.profiles, model)
    try ThumbnailRendering(options: options, monitor: monitor, workspace: maker.workspace)
      .run(.whole(picture), placements, extras, deliver: deliver)
    return zip(warnings, [nil, damage, nil]).compactMap { $0.isEmpty ? $1 : $0 }
  }
}
