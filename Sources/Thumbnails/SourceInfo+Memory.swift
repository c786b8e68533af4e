extension SourceInfo {
  /// The peak memory for making these thumbnails, in bytes, beyond that of an idle maker. A caller with a memory budget
  /// can reserve it before any pixel is read.
  ///
  /// If the picture is resized while it is decoded, the maker always holds some rows of each plane, the planes and
  /// filters of all thumbnails, and the profile. It also holds first the coefficients of the source, and later the
  /// buffers in which it turns, converts and encodes one thumbnail. It frees Little CMS's data before it decodes.
  ///
  /// Otherwise the maker always holds the decoded planes. It also holds, one after the other, libjpeg's coefficients of a
  /// file in several scans, Little CMS's data, and the planes and coefficients of one thumbnail.
  ///
  /// - parameters:
  ///   - options: the sizes to make, and how.
  ///   - decoding: how the source is decoded; `automatic` needs as much as the greater of the other two.
  public func bytesNeeded(for options: ThumbnailOptions, decoding: Decoding = .automatic) -> Int {
    if decoding.isAutomatic {
      return max(bytesNeeded(for: options, decoding: .sparing), bytesNeeded(for: options, decoding: .whole()))
    }
    let placements = options.allPlacements(for: orientedPixels)
    let plan = DecodePlan(self, for: placements, options, decoding)
    let sides: [Int]
    var coefficients = 0
    if case .bands(let own) = plan.method {
      sides = own
    } else {
      sides = librarySides(scale: plan.denominator)
      if isMultiscan { coefficients = allCoefficients }
    }
    var planes = planeBytes(sides: sides)
    if case .blocks(let side) = plan.method {
      (planes, coefficients) = BlockDecoder.bytesNeeded(self, side: side)
    }
    let checked = plan.checksFirst ? BlockDecoder.bytesNeeded(self, side: 1).planes : 0
    planes = max(planes, checked)
    let shape = RenderingShape(
      components: sampling.count, orientation: orientation,
      convertsPixels: options.linear || hasProfile || !isYCbCr,
      filteredSamples: (pixels.width + pixels.height) * (sides.max() ?? 8) / 8, isBanded: plan.isBanded)
    let rendering = RenderingMemory(shape, placements, options)
    // The decoder holds the profile itself; the profile reader and the metadata hold copies.
    let profile = profileSize == 0 ? 0 : profileSize + ProfileContext.allowance(forProfileOf: profileSize)
    let keptProfile = options.keep.leavesProfile ? profileSize * 2 : profileSize
    // If any of EXIF is kept, memory holds the block itself, libexif's tree of it, and its serialized form.
    let exif = options.keep.isDisjoint(with: [.exif, .copyright]) ? exifSize : exifSize * 6
    // This is for windows, Huffman and quantization tables of decoder and encoder, some rows of the picture, and the
    // small picture of a placeholder, which takes 70 KiB.
    let working = 640 << 10 + (pixels.width + pixels.height) * 32
    let held =
      plan.isBanded
      ? max(
        checked, profile,
        windowBytes(plan, sides: sides, placements) + rendering.targets + rendering.filters + keptProfile
          + max(coefficients, rendering.afterwards))
      : planes + max(coefficients, profile, rendering.total + keptProfile)
    return held + profileSize + exif + working
  }

  /// The memory of the planes that libjpeg decodes at a scale, in bytes.
  func planeBytes(scale: Int) -> Int { planeBytes(sides: librarySides(scale: scale)) }

  /// The samples of a block along each axis that libjpeg makes at a scale, for each component. It decodes a subsampled
  /// component at a larger scale if its plane does not become larger than luma's.
  private func librarySides(scale: Int) -> [Int] {
    let blockSide = 8 / scale
    return sampling.map { h, v in
      var side = blockSide
      while side < 8, grid.hMax * blockSide % (h * side * 2) == 0, grid.vMax * blockSide % (v * side * 2) == 0 {
        side *= 2
      }
      return side
    }
  }

  private func planeBytes(sides: [Int]) -> Int {
    zip(sampling, sides).reduce(0) { $0 + grid.across * grid.down * $1.0.h * $1.0.v * $1.1 * $1.1 }
  }

  /// The memory of the coefficients of the whole picture, in bytes.
  private var allCoefficients: Int { sampling.reduce(0) { $0 + grid.across * grid.down * $1.h * $1.v * 64 * 2 } }

  /// The memory of the rows that are held while the picture is decoded, in bytes.
  private func windowBytes(_ plan: DecodePlan, sides: [Int], _ placements: [Placement]) -> Int {
    let isLibrary = if case .bands = plan.method { false } else { true }
    let layouts = BandTarget.layouts(self, sides: sides, inWholeMCUs: isLibrary)
    let ofPicture = zip(placements, placements.parents()).filter { $1 == nil }.map(\.0)
    return layouts.enumerated().reduce(0) { bytes, layout in
      let taps = ofPicture.map { placement in
        let (region, size) = (placement.region, placement.pixels)
        let step =
          orientation.isTransposed ? region.width / Double(size.width) : region.height / Double(size.height)
        let halving = layout.offset > 0 && placement.layout.halvesChroma ? 2.0 : 1
        let samples = step * halving * layout.element.plane.rowsExact / Double(pixels.height)
        return FixedFilter.mostTaps(samples: samples)
      }
      return bytes + layout.element.heldRows(taps: taps.max() ?? 0) * layout.element.stride
    }
  }
}

/// What the memory for rendering a decoded picture depends on.
package struct RenderingShape {
  /// The number of planes, without alpha.
  let components: Int
  let hasAlpha: Bool
  let orientation: Orientation
  /// Whether pixels are converted at the thumbnail's full size; otherwise plane by plane.
  let convertsPixels: Bool
  /// The columns and rows of the largest plane together, for which there are filters.
  let filteredSamples: Int
  /// Whether the picture is resized to all sizes at once.
  let isBanded: Bool

  package init(
    components: Int, hasAlpha: Bool = false, orientation: Orientation, convertsPixels: Bool, filteredSamples: Int,
    isBanded: Bool = false
  ) {
    (self.components, self.hasAlpha, self.orientation) = (components, hasAlpha, orientation)
    (self.convertsPixels, self.filteredSamples, self.isBanded) = (convertsPixels, filteredSamples, isBanded)
  }
}

/// The memory that rendering and encoding take, in bytes.
package struct RenderingMemory {
  /// The planes to which a picture is resized.
  private(set) var targets = 0
  /// The filters of all sizes, if these are made at once.
  private(set) var filters = 0
  /// What is made of the targets.
  private(set) var afterwards = 0
  package var total: Int { targets + filters + afterwards }

  package init(_ shape: RenderingShape, _ placements: [Placement], _ options: ThumbnailOptions) {
    let components = shape.components
    let planes = components == 1 ? 1 : 3
    let alpha = shape.hasAlpha ? 1 : 0
    // YCbCr is resized plane by plane; other colours are converted at full size before chroma is halved.
    var buffers = [0, 0]
    var encoding = 0
    // The files of a size are held until the next size.
    var (files, mostFiles) = (0, 0)
    let formats = options.formats
    for (index, placement) in placements.enumerated() {
      let (width, height) = (placement.pixels.width, placement.pixels.height)
      let full = width * height
      let halves = components > 1 && placement.layout.halvesChroma
      let convertsPixels = shape.convertsPixels || placement.layout.isRGB
      let isRepeated = index > 0 && placements[index - 1] == placement
      let chroma = halves ? width.ceilingQuotient(2) * height.ceilingQuotient(2) : full
      let shown = full + (planes - 1) * chroma
      let stored = convertsPixels ? (components + alpha) * full : shown
      let turned = shape.orientation == .upright ? 0 : convertsPixels ? (planes + alpha) * full : shown
      // A buffer becomes as large as the largest thumbnail needs it, and keeps that size.
      buffers = zip(buffers, [turned, convertsPixels && halves ? 2 * chroma : 0]).map(max)
      targets = shape.isBanded ? targets + (isRepeated ? 0 : stored) : max(targets, stored)
      let side = halves ? 16 : 8
      let padded = width.ceilingQuotient(side) * height.ceilingQuotient(side) * side * side
      let samples = halves ? padded * 3 / 2 : padded * planes
      let rows = options.linear ? Self.linearRows(placement) * width * (planes + alpha) * 4 : 0
      // A filter has six weights of four bytes for each input sample; luma and chroma have a filter each.
      let filters = shape.filteredSamples * 48 + (width + height) * 64
      // Coefficients are held for the codes that suit them best; those of a large baseline file are a sample.
      let held =
        options.isProgressive(pixelCount: placement.pixels.count) || height < JPEGEncoder.sampledHeight
        ? samples : samples / 8
      let format = formats[index % formats.count]
      let file: Int
      if format == .jpeg {
        let size = JPEGEncoder.expectedSize(samples: samples, options.quality)
        file = held * 2 + size
        files = size + (index % formats.count == 0 ? 0 : files)
      } else {
        let memory = EncodingMemory(format, placement.pixels, placement.layout, isGrey: planes == 1, options)
        file = memory.total
        files = memory.file + (index % formats.count == 0 ? 0 : files)
      }
      if formats.count > 1 { mostFiles = max(mostFiles, files) }
      if shape.isBanded {
        encoding = max(encoding, file)
        self.filters += isRepeated ? 0 : filters
      } else {
        encoding = max(encoding, file, rows + filters)
      }
    }
    afterwards = buffers.reduce(0, +) + encoding + mostFiles
  }

  /// An upper limit of the output rows held at a time: those that one input row contributes to, and finished ones whose
  /// memory is kept for reuse.
  private static func linearRows(_ placement: Placement) -> Int { 8 + Int(8 / min(max(placement.reduction, 0.01), 1)) }
}
