/// How much of a source is decoded.
public enum Decoding: Sendable {
  /// No more than the thumbnails show, in the way that takes the least memory. May throw `ThumbnailError.irregular` for a
  /// damaged or unusual file.
  case sparing
  /// The whole source, by libjpeg. `damage` is what `ThumbnailError.irregular` told before; it is among the warnings.
  case whole(damage: String? = nil)
  /// First as `sparing`; if that throws `irregular`, as `whole`.
  case automatic

  package var isWhole: Bool { if case .whole = self { true } else { false } }
  var isAutomatic: Bool { if case .automatic = self { true } else { false } }
}

/// How a source is decoded: at which scale, and which parts are left out.
package struct DecodePlan {
  enum Method: Equatable {
    /// Only the lowest `side` × `side` coefficients of each block, by `BlockDecoder`.
    case blocks(side: Int)
    /// By `BlockDecoder`, which makes `sides` × `sides` samples of each block of a component of a sequential file in one
    /// scan. The picture is resized while it is decoded.
    case bands(sides: [Int])
    /// By libjpeg, without the last bit of a progressive file's AC coefficients.
    case withoutFineScans
    /// Everything, by libjpeg.
    case everything
  }

  /// The scale is 1/`denominator`.
  let denominator: Int
  let method: Method
  /// Whether `BlockDecoder` checks the whole file before libjpeg decodes it, because it knows damage of which libjpeg
  /// does not warn. In a progressive file it would have to hold all coefficients.
  let checksFirst: Bool
  /// Whether the picture is resized while it is decoded, so that its planes are never held whole. Averages in linear
  /// light, the search for details, and a process that decodes a whole source (`WholeJPEG`) need whole planes. The targets
  /// of all sizes are held at once. Together, all but the largest must not take more memory than the planes.
  let isBanded: Bool

  /// The denominators of the scales for which libjpeg has fast inverse transforms.
  private static let denominators = [8, 4, 2]

  /// The fewest decoded pixels for each thumbnail pixel, along each axis, if decoded pixels are means of source pixels.
  /// With fewer, this box filter is visible. Measured against a full decode: 2 is as good, 1.5 is not.
  package static let margin = 2.0

  /// The same if decoded pixels are made of a block's lowest frequencies, which are the better filter (`make quality`).
  private static let frequencyMargin = 1.8

  /// Chooses the smallest scale that is large enough for every thumbnail, and the method that decodes the least at it.
  ///
  /// Averaging in linear light needs the full scale, because scaled decoding averages sample values. `FailOn.warning`
  /// needs the whole file decoded, so that every flaw is found.
  init(_ info: SourceInfo, for placements: [Placement], _ options: ThumbnailOptions, _ decoding: Decoding) {
    let reduction = options.linear ? 1 : placements.map(\.reduction).min() ?? 1
    checksFirst = options.failOn == .warning && !info.isProgressive && BlockDecoder.supports(info)
    let mayLeaveOut = options.failOn != .warning && !decoding.isWhole
    if mayLeaveOut, BlockDecoder.supports(info) {
      // The same as `reduction` for the component that has the fewest samples.
      let coarse =
        options.linear ? 0 : placements.map { $0.reduction / Self.coarsestChroma(of: info, $0) }.min() ?? 0
      if coarse >= 8 * Self.margin {
        (denominator, method, isBanded) = (8, .blocks(side: 1), false)
        return
      }
      if coarse >= 4 * Self.frequencyMargin {
        (denominator, method, isBanded) = (4, .blocks(side: 2), false)
        return
      }
    }
    let library = Self.denominators.first { reduction / Double($0) >= Self.margin } ?? 1
    let targets = placements.withoutRepeats.map { $0.pixels.count * info.sampling.count }
    let furtherTargets = targets.reduce(0, +) - (targets.max() ?? 0)
    isBanded =
      !decoding.isWhole && !options.linear && !placements.contains { $0.seeksAttention }
      && furtherTargets <= info.planeBytes(scale: library)
    if mayLeaveOut, isBanded, !info.isMultiscan, BlockDecoder.supports(info) {
      let sides = info.sampling.indices.map { index in
        let least = placements.map { Self.reduction(of: index, in: info, $0) }.min() ?? 1
        return InverseTransform.sides.first { least * Double($0) / 8 >= Self.frequencyMargin } ?? 8
      }
      (denominator, method) = (library, .bands(sides: sides))
      return
    }
    denominator = library
    method = mayLeaveOut && denominator > 1 && info.isProgressive ? .withoutFineScans : .everything
  }

  /// Whether an irregular file may need more memory than planned.
  var mayNeedMore: Bool {
    switch method {
    case .blocks, .bands: true
    case .withoutFineScans, .everything: false
    }
  }

  /// How many samples of a component a sample of the thumbnail stands for, along the axis with fewer.
  private static func reduction(of component: Int, in info: SourceInfo, _ placement: Placement) -> Double {
    let (grid, sampling) = (info.grid, info.sampling[component])
    let density = min(Double(sampling.h) / Double(grid.hMax), Double(sampling.v) / Double(grid.vMax))
    let halving = component > 0 && info.isYCbCr && placement.layout.halvesChroma ? 2.0 : 1
    return placement.reduction * density * halving
  }

  /// How many times more samples the finest component has than the coarsest, along one axis, in the source relative to
  /// the thumbnail; at least 1. `BlockDecoder` makes equally many samples of each block, so chroma with half of luma's
  /// samples is decoded at 1/16 when luma is at 1/8, and must satisfy the same margin.
  private static func coarsestChroma(of info: SourceInfo, _ placement: Placement) -> Double {
    let grid = info.grid
    let coarsest =
      info.sampling.map { max(Double(grid.hMax) / Double($0.h), Double(grid.vMax) / Double($0.v)) }.max() ?? 1
    let halving = placement.layout.halvesChroma && info.sampling.count > 1 ? 2.0 : 1
    return max(coarsest / halving, 1)
  }
}
