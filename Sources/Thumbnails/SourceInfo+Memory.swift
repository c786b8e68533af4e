extension SourceInfo {
  /// The peak memory for making these thumbnails, in bytes, beyond that of an idle maker. A caller with a memory budget
  /// can reserve it before any pixel is read.
  ///
  /// The decoded planes are held throughout. In addition, one after the other, the maker holds libjpeg's coefficients
  /// of a file in several scans, Little CMS's data for the profile, and the planes and coefficients of one thumbnail.
  ///
  /// - parameters:
  ///   - options: the sizes to make, and how.
  ///   - decoding: how the source is decoded; `automatic` needs as much as `whole`.
  public func bytesNeeded(for options: ThumbnailOptions, decoding: Decoding = .automatic) -> Int {
    let placements = options.sizes.map { $0.placement(for: orientedPixels) }
    let plan = DecodePlan(self, for: placements, options, decoding.isAutomatic ? .whole() : decoding)
    let decoded = DecodingMemory(self, scale: plan.denominator)
    var (planes, coefficients) = (decoded.planes, isMultiscan ? decoded.coefficients : 0)
    if case .blocks(let side) = plan.method {
      (planes, coefficients) = BlockDecoder.bytesNeeded(self, side: side)
    }
    if plan.checksFirst { planes = max(planes, BlockDecoder.bytesNeeded(self, side: 1).planes) }
    let shape = RenderingShape(
      components: sampling.count, orientation: orientation,
      convertsPixels: options.linear || hasProfile || !isYCbCr,
      filteredSamples: (pixels.width + pixels.height) / plan.denominator)
    let rendering = RenderingMemory(shape, placements, options)
    // The decoder holds the profile itself; the profile reader and the metadata hold copies.
    let profile = profileSize == 0 ? 0 : profileSize + ProfileContext.allowance(forProfileOf: profileSize)
    let keptProfile = options.keep.leavesProfile ? profileSize * 2 : profileSize
    // If any of EXIF is kept, memory holds the block itself, libexif's tree of it, and its serialized form.
    let exif = options.keep.isDisjoint(with: [.exif, .copyright]) ? exifSize : exifSize * 6
    // This is for windows, Huffman and quantization tables of decoder and encoder, some rows of the picture, and the
    // small picture of a placeholder, which takes 70 KiB.
    let working = 640 << 10 + (pixels.width + pixels.height) * 32
    return planes + max(coefficients, profile, rendering.total + keptProfile) + profileSize + exif + working
  }
}

extension SourceInfo {
  /// The memory of the planes decoded at a scale, in bytes.
  func planeBytes(scale: Int) -> Int { DecodingMemory(self, scale: scale).planes }
}

/// The memory that decoding takes, in bytes.
private struct DecodingMemory {
  private(set) var planes = 0
  private(set) var coefficients = 0

  init(_ info: SourceInfo, scale: Int) {
    let grid = info.grid
    let mcus = grid.across * grid.down
    let blockSide = 8 / scale
    for (h, v) in info.sampling {
      // libjpeg decodes a subsampled component at a larger scale if its plane does not become larger than luma's.
      var side = blockSide
      while side < 8, grid.hMax * blockSide % (h * side * 2) == 0, grid.vMax * blockSide % (v * side * 2) == 0 {
        side *= 2
      }
      planes += mcus * h * v * side * side
      coefficients += mcus * h * v * 64 * 2
    }
  }
}

/// What the memory for rendering a decoded picture depends on.
package struct RenderingShape {
  /// The number of planes.
  let components: Int
  let orientation: Orientation
  /// Whether pixels are converted at the thumbnail's full size; otherwise plane by plane.
  let convertsPixels: Bool
  /// The columns and rows of the largest plane together, for which there are filters.
  let filteredSamples: Int

  package init(components: Int, orientation: Orientation, convertsPixels: Bool, filteredSamples: Int) {
    (self.components, self.orientation) = (components, orientation)
    (self.convertsPixels, self.filteredSamples) = (convertsPixels, filteredSamples)
  }
}

/// The memory that rendering and encoding take, in bytes.
package struct RenderingMemory {
  package private(set) var total = 0

  package init(_ shape: RenderingShape, _ placements: [Placement], _ options: ThumbnailOptions) {
    let components = shape.components
    let planes = components == 1 ? 1 : 3
    // YCbCr is resized plane by plane; other colours are converted at full size before chroma is halved.
    let convertsPixels = shape.convertsPixels
    var buffers = [0, 0, 0]
    var encoding = 0
    for placement in placements {
      let (width, height) = (placement.pixels.width, placement.pixels.height)
      let full = width * height
      let halves = components > 1 && options.halvesChroma(at: placement.pixels)
      let chroma = halves ? width.ceilingQuotient(2) * height.ceilingQuotient(2) : full
      let shown = full + (planes - 1) * chroma
      let stored = convertsPixels ? components * full : shown
      let turned = shape.orientation == .upright ? 0 : convertsPixels ? planes * full : shown
      // A buffer becomes as large as the largest thumbnail needs it, and keeps that size.
      let sizes = [stored, turned, convertsPixels && halves ? 2 * chroma : 0]
      buffers = zip(buffers, sizes).map(max)
      let side = halves ? 16 : 8
      let padded = width.ceilingQuotient(side) * height.ceilingQuotient(side) * side * side
      let samples = halves ? padded * 3 / 2 : padded * planes
      let rows = options.linear ? Self.linearRows(placement) * width * planes * 4 : 0
      // A filter has six weights of four bytes for each input sample; luma and chroma have a filter each.
      let filters = shape.filteredSamples * 48 + (width + height) * 64
      encoding = max(encoding, samples * 2 + Self.fileSize(samples: samples, options.quality), rows + filters)
    }
    total = buffers.reduce(0, +) + encoding
  }

  /// An upper limit of the output rows held at a time: those that one input row contributes to, and finished ones whose
  /// memory is kept for reuse.
  private static func linearRows(_ placement: Placement) -> Int { 8 + Int(8 / min(max(placement.reduction, 0.01), 1)) }

  /// The size of a file that shows noise, which makes the largest files. The bytes for each sample were measured at
  /// each quality.
  private static func fileSize(samples: Int, _ quality: Int) -> Int {
    let quality = Double(min(max(quality, 1), 100))
    let bytesPerSample = 0.26 + 0.0055 * min(quality, 80) + 0.023 * max(quality - 80, 0)
    return 64 << 10 + Int(Double(samples) * bytesPerSample)
  }
}
