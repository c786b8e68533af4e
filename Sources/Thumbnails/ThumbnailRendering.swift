/// A picture from which thumbnails are made.
enum RenderablePicture {
  /// Decoded, and not resized.
  case whole(DecodedPicture)
  /// Resized to the targets of each size while it was decoded.
  case resized(PictureShape, [ResizeTargets])
}

/// Makes the thumbnails of one decoded picture: renders and encodes each size.
///
/// *Concurrency*: for the thread that uses its workspace.
struct ThumbnailRendering {
  let options: ThumbnailOptions
  let monitor: (any ThumbnailMonitor)?
  let workspace: DecodeWorkspace

  /// Makes every size, and delivers each when it is done. Sizes in a row of which the picture gives the same thumbnail, as of a
  /// small picture, are made once.
  func run(
    _ picture: RenderablePicture, _ placements: [Placement], _ extras: SourceExtras,
    deliver: (Thumbnail) throws -> Void
  ) throws {
    var placeholder: Placeholder?
    var last: (placement: Placement, bytes: UnsafeRawBufferPointer)?
    for (index, size) in options.sizes.enumerated() {
      try checkCancelled()
      let placement = placements[index]
      let bytes: UnsafeRawBufferPointer
      if let last, last.placement == placement {
        bytes = last.bytes
      } else {
        let rendered = try render(picture, index, placement, extras, &placeholder)
        bytes = try encode(rendered, pixels: placement.pixels, extras.metadata(for: placement.pixels))
      }
      last = (placement, bytes)
      try deliver(Thumbnail(size: size, pixels: placement.pixels, bytes: bytes, placeholder: placeholder))
      let done = Double(index + 1) / Double(options.sizes.count)
      monitor?.progressed(to: DecoderProgress.share + (1 - DecoderProgress.share) * done)
    }
  }

  /// Makes the planes of one size, which are valid until the next call.
  ///
  /// - parameter index: of the size.
  /// - parameter placeholder: receives the placeholder if the options ask for one and there is none yet.
  func render(
    _ picture: RenderablePicture, _ index: Int, _ placement: Placement, _ extras: SourceExtras,
    _ placeholder: inout Placeholder?
  ) throws(ThumbnailError) -> [PlaneView] {
    monitor?.entered(.resizing)
    let order = ThumbnailRenderer.Order(placement: placement, conversion: extras.conversion, options: options)
    let rendered =
      switch picture {
      case .whole(let picture): try workspace.renderer.render(picture, order, proceed: checkCancelled)
      case .resized(let shape, let targets):
        try workspace.renderer.finish(targets[index], of: shape, order, proceed: checkCancelled)
      }
    if options.makesPlaceholder, placeholder == nil {
      placeholder = try workspace.renderer.placeholder(
        of: rendered, pixels: placement.pixels, options: options, proceed: checkCancelled)
    }
    return rendered
  }

  /// Encodes the planes of one size. The bytes are valid until the next call.
  func encode(
    _ planes: [PlaneView], pixels: PixelSize, _ metadata: JPEGEncoder.Metadata
  ) throws(ThumbnailError) -> UnsafeRawBufferPointer {
    monitor?.entered(.encoding)
    return try workspace.currentEncoder().encode(
      planes, pixels: pixels, halfChroma: options.halvesChroma(at: pixels), options: options, metadata: metadata,
      monitor: monitor)
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
