/// The memory that an encoder in a process of its own takes for a thumbnail, in bytes.
package struct EncodingMemory: Sendable, Equatable {
  /// The planes that are given to it.
  package let planes: Int
  /// The most bytes of the file.
  package let file: Int
  /// What the encoder takes besides.
  package let working: Int

  /// What is reserved for it. The file is counted twice: as the encoder writes it, and as a copy of this process.
  package var total: Int { planes + 2 * file + working }

  package init(
    _ format: ThumbnailFormat, _ pixels: PixelSize, _ layout: SampleLayout, isGrey: Bool, _ options: ThumbnailOptions
  ) {
    let full = pixels.count
    let chroma =
      layout.halvesChroma ? pixels.width.ceilingQuotient(2) * pixels.height.ceilingQuotient(2) : full
    planes = full + (isGrey ? 0 : 2 * chroma) + (layout.keepsAlpha ? full : 0)
    let isLossless = format == .png || options.lossless
    // Noise does not become smaller. Filters, headers and stored blocks add a little. Of lossy files, the one that shows noise
    // at the best quality is the largest.
    file = 64 << 10 + (isLossless ? planes + planes / 64 : planes * 3 / 2)
    working = format.workingBytes(
      pixels, layout, isLossless: isLossless, effort: FormatEncoding(format, options).effort)
  }
}

extension ThumbnailFormat {
  /// What the encoder takes besides the planes and the file. Measured for photos, noise and drawings, for large, tiny and narrow
  /// pictures, at all efforts: the most of its address space, and a quarter more.
  fileprivate func workingBytes(_ pixels: PixelSize, _ layout: SampleLayout, isLossless: Bool, effort: Int) -> Int {
    switch self {
    case .jpeg: return 0
    case .png: return 4 << 20
    // Alpha is lossless. The encoder keeps all tokens of lossy pictures.
    case .webp: return 8 << 20 + pixels.count * (isLossless ? 72 : layout.keepsAlpha ? 48 : 24)
    // It codes whole blocks, with a border.
    case .avif:
      let coded = (pixels.width + 64) * (pixels.height + 64)
      let isFast = effort <= 3
      return 4 << 20 + coded * (layout.halvesChroma ? isFast ? 32 : 60 : isFast ? 52 : 84)
    }
  }
}
