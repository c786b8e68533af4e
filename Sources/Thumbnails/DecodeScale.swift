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
}
