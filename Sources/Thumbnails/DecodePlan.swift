/// How much of a source is decoded.
public enum Decoding: Sendable {
  /// What the thumbnails show, as far as the file is regular: `ThumbnailError.irregular` where it is not. Takes the least
  /// memory.
  case sparing
  /// All of it, by libjpeg.
  case whole
  /// Sparing, and whole where that does not do.
  case automatic
}

/// How a source is decoded: at which scale, and what is left out.
struct DecodePlan {
  enum Method: Equatable {
    /// The lowest frequencies of each block and nothing else, `side` × `side` of them, by `BlockDecoder`.
    case blocks(side: Int)
    /// By libjpeg, without the last bit of a progressive file's detail.
    case withoutFineScans
    /// By libjpeg.
    case everything
  }

  /// The scale is 1 over this.
  let denominator: Int
  let method: Method

  /// What libjpeg's decoder does with fast inverse transforms of its own.
  private static let denominators = [8, 4, 2]

  /// How many decoded pixels there are at least to one of the thumbnail, along each axis, where they are means of the
  /// picture's: with fewer, the box filter shows (measured against a full decode; twice is as good as full, 1.5 times is
  /// not).
  private static let margin = 2.0

  /// The same where they are made of a block's lowest frequencies: these are the better filter (`make quality`).
  private static let frequencyMargin = 1.8

  /// The smallest scale that serves every thumbnail, and the least to decode at that scale.
  ///
  /// Averaging light allows no scaled decode, which averages sample values. Who wants to hear of every flaw has all of
  /// it decoded.
  init(_ info: SourceInfo, for placements: [Placement], _ options: ThumbnailOptions, _ decoding: Decoding) {
    let reduction = options.linear ? 1 : placements.map(\.reduction).min() ?? 1
    let mayLeaveOut = decoding != .whole && options.failOn != .warning
    if mayLeaveOut, BlockDecoder.supports(info) {
      let coarsest = Self.coarsestChroma(of: info, options)
      if reduction >= 8 * Self.margin * coarsest {
        (denominator, method) = (8, .blocks(side: 1))
        return
      }
      if reduction >= 4 * Self.frequencyMargin * coarsest {
        (denominator, method) = (4, .blocks(side: 2))
        return
      }
    }
    denominator = Self.denominators.first { reduction / Double($0) >= Self.margin } ?? 1
    method = mayLeaveOut && denominator > 1 && info.isProgressive ? .withoutFineScans : .everything
  }

  /// How many times fewer samples than luma a component has, where all have as many for a block, measured by what the
  /// thumbnail has of it. Chroma of half luma's samples is at 1/16 of the picture's size where luma is at 1/8: that must be
  /// as much more than the thumbnail's chroma as is asked of luma.
  private static func coarsestChroma(of info: SourceInfo, _ options: ThumbnailOptions) -> Double {
    let grid = info.grid
    let coarsest =
      info.sampling.map { max(Double(grid.hMax) / Double($0.h), Double(grid.vMax) / Double($0.v)) }.max() ?? 1
    let halving = ThumbnailRenderer.halvesChroma(options) && info.sampling.count > 1 ? 2.0 : 1
    return max(coarsest / halving, 1)
  }
}
