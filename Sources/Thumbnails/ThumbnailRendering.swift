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

  /// Makes every size in every format, and delivers each when it is done. Sizes in a row of which the picture gives the same
  /// thumbnail, as of a small picture, are made once, and so are the samples for several formats.
  func run(
    _ picture: RenderablePicture, _ placements: [Placement], _ extras: SourceExtras,
    deliver: (Thumbnail) throws -> Void
  ) throws {
    var placeholder: Placeholder?
    var rendered: (placement: Placement, picture: RenderedPicture)?
    // The files of the last placement. Sizes in a row may share them.
    var files: [(format: ThumbnailFormat, placement: Placement, file: EncodedFile)] = []
    let renditions = options.renditions
    for (index, rendition) in renditions.enumerated() {
      try checkCancelled()
      let placement = placements[index]
      // After another placement a file may be in a buffer that was used again.
      if files.contains(where: { !$0.placement.showsSame(as: placement) }) { files = [] }
      let file: EncodedFile
      if let known = files.first(where: { $0.format == rendition.format && $0.placement == placement }) {
        file = known.file
      } else {
        let samples: RenderedPicture
        if let rendered, rendered.placement == placement {
          samples = rendered.picture
        } else {
          samples = try render(picture, index, placement, extras, &placeholder)
          rendered = (placement, samples)
        }
        file = try encode(samples, as: rendition.format, extras.metadata(for: placement.pixels))
        files.append((rendition.format, placement, file))
      }
      try file.withBytes { bytes in
        try deliver(
          Thumbnail(
            size: rendition.size, format: rendition.format, pixels: placement.pixels, bytes: bytes,
            placeholder: placeholder))
      }
      let done = Double(index + 1) / Double(renditions.count)
      monitor?.progressed(to: DecoderProgress.share + (1 - DecoderProgress.share) * done)
    }
  }

  /// Makes the samples of one thumbnail, which are valid until the next call.
  ///
  /// - parameter index: of the rendition.
  /// - parameter placeholder: receives the placeholder if the options ask for one and there is none yet.
  func render(
    _ picture: RenderablePicture, _ index: Int, _ placement: Placement, _ extras: SourceExtras,
    _ placeholder: inout Placeholder?
  ) throws(ThumbnailError) -> RenderedPicture {
    monitor?.entered(.resizing)
    let isMissing = options.makesPlaceholder && placeholder == nil
    if isMissing, placement.layout.keepsAlpha {
      var opaque = placement
      opaque.layout = SampleLayout(colors: placement.layout.colors, keepsAlpha: false)
      placeholder = try workspace.renderer.placeholder(
        of: try render(picture, index, opaque, extras), proceed: checkCancelled)
    }
    let rendered = try render(picture, index, placement, extras)
    if isMissing, placeholder == nil {
      placeholder = try workspace.renderer.placeholder(of: rendered, proceed: checkCancelled)
    }
    return rendered
  }

  private func render(
    _ picture: RenderablePicture, _ index: Int, _ placement: Placement, _ extras: SourceExtras
  ) throws(ThumbnailError) -> RenderedPicture {
    let order = ThumbnailRenderer.Order(placement: placement, conversion: extras.conversion, options: options)
    return switch picture {
    case .whole(let picture): try workspace.renderer.render(picture, order, proceed: checkCancelled)
    case .resized(let shape, let targets):
      try workspace.renderer.finish(targets[index], of: shape, order, proceed: checkCancelled)
    }
  }

  /// The bytes of a thumbnail.
  enum EncodedFile {
    /// In the encoder's buffer, valid until it encodes again.
    case borrowed(UnsafeRawBufferPointer)
    case owned([UInt8])

    func withBytes(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
      switch self {
      case .borrowed(let bytes): try body(bytes)
      case .owned(let bytes): try bytes.withUnsafeBytes(body)
      }
    }
  }

  /// Encodes a thumbnail.
  ///
  /// - throws: `ThumbnailError`, and the errors of the encoder of other formats.
  func encode(
    _ picture: RenderedPicture, as format: ThumbnailFormat, _ metadata: ThumbnailMetadata
  ) throws -> EncodedFile {
    monitor?.entered(.encoding)
    if format == .jpeg {
      return .borrowed(
        try workspace.currentEncoder().encode(picture, options: options, metadata: metadata, monitor: monitor))
    }
    guard let encoder = workspace.otherEncoder else {
      throw ThumbnailError.internalFault("there is no encoder for \(format.type.displayName)")
    }
    return .owned(try encoder.encode(picture, as: format, options, metadata, monitor: monitor))
  }

  private func checkCancelled() throws(ThumbnailError) {
    if monitor?.isCancelled == true { throw .cancelled }
  }
}

extension ThumbnailOptions {
  /// The placement of each rendition of a picture. Throws if a limit is exceeded.
  ///
  /// - parameter hasAlpha: whether the picture may be transparent.
  package func placements(
    for pixels: PixelSize, _ orientation: Orientation, hasAlpha: Bool = false
  ) throws(ThumbnailError) -> [Placement] {
    let placements = allPlacements(for: orientation.apply(to: pixels), hasAlpha: hasAlpha)
    if pixels.count > limitPixels { throw .tooManyPixels(pixels, limit: limitPixels) }
    for (placement, rendition) in zip(placements, renditions) {
      if placement.pixels.count > limitPixels { throw .thumbnailTooLarge(placement.pixels, limit: limitPixels) }
      let longest = rendition.format.longestSide
      if max(placement.pixels.width, placement.pixels.height) > longest {
        throw .sideTooLong(placement.pixels, rendition.format.type, limit: longest)
      }
    }
    return placements
  }

  /// The same whatever the limits are.
  ///
  /// - parameter source: the picture's size as displayed.
  func allPlacements(for source: PixelSize, hasAlpha: Bool = false) -> [Placement] {
    renditions.map { rendition in
      var placement = rendition.size.placement(for: source)
      placement.layout = layout(of: rendition.format, at: placement.pixels, hasAlpha: hasAlpha)
      return placement
    }
  }
}
