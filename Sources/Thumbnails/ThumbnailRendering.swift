/// Makes the thumbnails of one decoded picture: renders and encodes each size.
///
/// *Concurrency*: for the thread that uses its workspace.
struct ThumbnailRendering {
  let options: ThumbnailOptions
  let monitor: (any ThumbnailMonitor)?
  let workspace: DecodeWorkspace

  /// Makes every size, and delivers each when it is done.
  func run(
    _ picture: DecodedPicture, _ placements: [Placement], _ extras: SourceExtras, deliver: (Thumbnail) throws -> Void
  ) throws {
    var placeholder: Placeholder?
    for (index, size) in options.sizes.enumerated() {
      try checkCancelled()
      let placement = placements[index]
      monitor?.entered(.resizing)
      let rendered = try workspace.renderer.render(
        picture, placement, conversion: extras.conversion, options: options, proceed: checkCancelled)
      if options.makesPlaceholder, placeholder == nil {
        placeholder = try workspace.renderer.placeholder(
          of: rendered, pixels: placement.pixels, options: options, proceed: checkCancelled)
      }
      monitor?.entered(.encoding)
      let bytes = try workspace.currentEncoder().encode(
        rendered, pixels: placement.pixels, halfChroma: options.halvesChroma(at: placement.pixels), options: options,
        metadata: extras.metadata(for: placement.pixels), monitor: monitor)
      try deliver(Thumbnail(size: size, pixels: placement.pixels, bytes: bytes, placeholder: placeholder))
      let done = Double(index + 1) / Double(options.sizes.count)
      monitor?.progressed(to: DecoderProgress.share + (1 - DecoderProgress.share) * done)
    }
  }

  private func checkCancelled() throws(ThumbnailError) {
    if monitor?.isCancelled == true { throw .cancelled }
  }
}

extension ThumbnailOptions {
  /// The placement of each size of a picture. Throws if a limit is exceeded.
  package func placements(
    for pixels: PixelSize, _ orientation: Orientation
  ) throws(ThumbnailError) -> [Placement] {
    let placements = sizes.map { $0.placement(for: orientation.apply(to: pixels)) }
    if pixels.count > limitPixels { throw .tooManyPixels(pixels, limit: limitPixels) }
    for placement in placements where placement.pixels.count > limitPixels {
      throw .thumbnailTooLarge(placement.pixels, limit: limitPixels)
    }
    return placements
  }
}
