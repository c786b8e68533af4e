/// How much smaller a source is decoded than it is.
enum DecodeScale {
  /// What libjpeg's decoder does with fast inverse transforms of its own.
  private static let denominators = [8, 4, 2]

  /// How many decoded pixels there are at least to one of the thumbnail, along each axis: with fewer, the transform's
  /// box filter shows (measured against a full decode; twice is as good as full, 1.5 times is not).
  private static let margin = 2.0

  /// The smallest scale, as 1 over the number returned, that serves every thumbnail.
  ///
  /// - parameter linear: averaging light allows no scaled decode, which averages sample values.
  static func choose(for placements: [Placement], linear: Bool) -> Int {
    guard !linear else { return 1 }
    let reduction = placements.map(\.reduction).min() ?? 1
    return denominators.first { reduction / Double($0) >= margin } ?? 1
  }

  /// Whether a progressive file at scale 1/8 shows these thumbnails as well without its scans of detail, most of the file.
  ///
  /// Without detail a component has one sample for each of its blocks. Chroma of half luma's samples is then 1/16 of the
  /// picture's size, which must be as much more than the thumbnail's chroma as is asked of luma. Who wants to hear of
  /// every flaw has all of it decoded.
  static func canSkipDetail(of info: SourceInfo, for placements: [Placement], _ options: ThumbnailOptions) -> Bool {
    guard info.isProgressive, options.failOn != .warning else { return false }
    let reduction = placements.map(\.reduction).min() ?? 1
    let hMax = info.sampling.map(\.h).max() ?? 1
    let vMax = info.sampling.map(\.v).max() ?? 1
    let coarsest = info.sampling.map { max(Double(hMax) / Double($0.h), Double(vMax) / Double($0.v)) }.max() ?? 1
    let halving = ThumbnailRenderer.halvesChroma(options) && info.sampling.count > 1 ? 2.0 : 1
    return reduction >= 8 * margin * max(coarsest / halving, 1)
  }
}
