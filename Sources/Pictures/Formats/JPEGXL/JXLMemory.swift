import Thumbnails

/// The memory that libjxl 0.7 takes at most, which follows from how it decodes.
///
/// Of a lossy frame (VarDCT) it keeps what belongs to blocks of 8 × 8 pixels, and what neighbouring groups need of each
/// other. If the frame has several passes, it keeps all coefficients. Alpha and other channels besides the colours are coded
/// like a lossless frame. For all samples of that kind it takes four bytes each, and gives them back before it decodes
/// groups. If they have the transform “squeeze”, they are complete only at the end, and it keeps all samples of all channels
/// until then. libjxl's encoder squeezes alpha only in version 0.7, and colours only if it is asked to, or codes a lossy
/// picture in this way. Where the header does not tell, squeezed channels count as rare.
///
/// Measured for 24 megapixels, in bytes for each pixel: lossy 2.8 to 3.1, with noise 4.9, with squeezed alpha 35.2;
/// recompressed JPEG 1.6; lossless 12.4, grey 4.3, with alpha 16.4, squeezed 18.4. A lossy picture of one pixel takes 4.6 MB.
struct JXLMemory {
  let bytes: Int
  let rareBytes: Int

  private static let mebibyte = Double(1 << 20)
  /// Sizes of pictures are not limited here, so all is computed as floating-point numbers, and more than this is none.
  private static let most = 1e15

  init(_ image: JXLImage, _ frames: JXLFrames) {
    let parts = frames.frames + (frames.isComplete ? [] : [Self.expected(image, frames)])
    let whole = Double(image.pixels.width) * Double(image.pixels.height)
    let pixelBytes = Double(4 * (3 + image.channels.count))
    var (kept, common, rare): ([Int: Double], Double, Double) = ([:], 0, 0)
    for frame in parts {
      let need = Need(image, frame)
      // Slots above 3 are those of means. What was in the slot is kept while the frame is decoded.
      let slot = frame.meanLevel > 0 ? 3 + frame.meanLevel : frame.slot
      let own = frame.meanLevel > 0 ? 12 * need.pixels : slot == nil ? 0 : pixelBytes * need.shownPixels
      let held = kept.values.reduce(own, +)
      common = max(common, held + need.common)
      rare = max(rare, held + need.rare)
      if let slot { kept[slot] = own }
    }
    // What is not known of frames may be the most that there is.
    if !frames.isComplete { rare += (pixelBytes + 12) * whole }
    bytes = Int(min(common, Self.most))
    // Tables for entropy coding take 48 MiB if a file makes the most of them.
    rareBytes = Int(min(max(rare - common, 0) + 48 * Self.mebibyte, Self.most))
  }

  /// A frame whose header cannot be found: lossy or lossless as nearly all pictures with such colours are.
  private static func expected(_ image: JXLImage, _ frames: JXLFrames) -> JXLFrames.Frame {
    var frame = JXLFrames.Frame()
    (frame.width, frame.height) = (image.pixels.width, image.pixels.height)
    frame.isModular = !image.isXYB
    frame.largestSection = 1 << 20
    return frame
  }

  /// What a frame needs.
  private struct Need {
    /// The pixels as they are coded, and after upsampling.
    let pixels: Double
    let shownPixels: Double
    let common: Double
    let rare: Double

    init(_ image: JXLImage, _ frame: JXLFrames.Frame) {
      // Rows are padded to whole vectors, and a little more.
      let (width, height) = (Double(frame.width + 48), Double(frame.height + 8))
      pixels = width * height
      shownPixels = pixels * Double(frame.upsampling * frame.upsampling)
      let others = Double(image.channels.count)
      let colors: Double = image.isGrey && !image.isXYB ? 1 : 3
      let channels = 3 + others + (frame.hasNoise ? 3 : 0)
      let side = Double(frame.groupSide)
      let groups = Double(frame.width.quotientUp(frame.groupSide)) * Double(frame.height.quotientUp(frame.groupSide))
      let groupSide = side * Double(image.channels.isEmpty ? 1 : frame.upsampling)
      let group = 4 * channels * (groupSide + 32) * (groupSide + 32)
      // What neighbouring groups need of each other, for filters.
      let borders = shownPixels * channels * 224 / side
      let input = 3 * (Double(frame.largestSection) + mebibyte / 8)
      if frame.isModular {
        let samples = 4 * (colors * pixels + others * shownPixels)
        let groupSamples = 4 * (colors + others) * min(side * side, pixels)
        let base = 8 * mebibyte + input + group + (image.isXYB ? borders : 0)
        let squeezed = base + 1.6 * samples + (frame.hasNoise ? groups * group : 0)
        rare = squeezed
        common = image.isXYB ? squeezed : base + max(samples, groupSamples)
      } else {
        let coefficients = frame.passes > 1 ? groups * side * side * 3 * 2 : 0
        let base = 9 * mebibyte + input + 0.6 * pixels + borders + coefficients
        common = base + 4 * others * shownPixels
        // All samples, and coefficients of 32 bits.
        rare = common + coefficients + (others > 0 ? groups * group + 2 * 4 * others * shownPixels : 0)
      }
    }
  }
}
