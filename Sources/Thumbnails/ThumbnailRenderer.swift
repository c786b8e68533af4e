/// Renders a decoded picture as the planes of one thumbnail: resized, in sRGB, upright.
///
/// A YCbCr or grey picture in sRGB is only resized, plane by plane, without conversion to RGB and without chroma
/// upsampling. Other pictures are converted after resizing, because that is cheap at the thumbnail's size; only
/// resizing in linear light has to convert first.
final class ThumbnailRenderer {
  private let resampler = Resampler()
  private var stored = [PlaneBuffer]()
  private var turned = [PlaneBuffer]()
  private var halved = [PlaneBuffer]()

  /// Makes one thumbnail's planes: one for grey, three (YCbCr) otherwise. They are valid until the next call.
  ///
  /// - parameter proceed: called between planes and every few rows.
  /// - throws: `outOfMemory`, and the errors of `proceed`.
  func render(
    _ picture: DecodedPicture, _ placement: Placement, conversion: ProfileConversion, options: ThumbnailOptions,
    proceed: CancellationCheck
  ) throws(ThumbnailError) -> [PlaneView] {
    var placement = placement
    if placement.seeksAttention {
      placement.region = try Attention(of: picture, with: resampler, proceed: proceed).moved(placement.region)
    }
    var model = picture.model
    let halvesChroma = options.halvesChroma(at: placement.pixels)
    let isLinear = options.linear && model.profileKind != .cmyk
    var transform: ProfileTransform?
    if case .pixels(let found) = conversion { transform = found }
    let isPlain = !isLinear && (model == .grey || model == .ycc(.bt601)) && transform == nil

    if isPlain {
      var planes: [PlaneView] = []
      for index in picture.planes.indices {
        try proceed()
        let isHalf = index > 0 && halvesChroma
        planes.append(try resize(picture, plane: index, placement, isHalf: isHalf, proceed: proceed))
      }
      try convertGrey(planes, conversion, proceed)
      return planes
    }

    let size = picture.orientation.apply(to: placement.pixels)
    var planes: [PlaneView] = []
    for index in picture.planes.indices {
      planes.append(try buffer(index, in: &stored).plane(columns: size.width, rows: size.height))
    }
    let region = picture.orientation.storedRect(of: placement.region, in: picture.pixels)
    if isLinear {
      let luma = picture.planes[0]
      let part = region.scaled(from: picture.pixels, toColumns: luma.columnsExact, rows: luma.rowsExact)
      try LinearResampler(resampler: resampler, conversion: conversion)
        .resample(picture, region: part, into: planes, proceed: proceed)
      if case .ycc = model { model = .rgb }
    } else {
      for (plane, target) in zip(picture.planes, planes) {
        try proceed()
        let part = region.scaled(from: picture.pixels, toColumns: plane.columnsExact, rows: plane.rowsExact)
        try resampler.resample(plane.view, region: part, into: target, proceed: proceed)
      }
    }
    try proceed()
    try ColorConverter(model: model, transform: isLinear ? nil : transform).convert(planes, proceed: proceed)
    return try finish(
      Array(planes.prefix(model == .grey ? 1 : 3)), picture.orientation, halvesChroma: halvesChroma, proceed: proceed)
  }

  /// Makes the placeholder of a thumbnail.
  ///
  /// - parameters:
  ///   - planes: the thumbnail's planes, as `render` has made them.
  ///   - proceed: called between planes and every few rows.
  /// - throws: `outOfMemory`, and the errors of `proceed`.
  func placeholder(
    of planes: [PlaneView], pixels: PixelSize, options: ThumbnailOptions, proceed: CancellationCheck
  ) throws(ThumbnailError) -> Placeholder {
    Placeholder(
      try SmallPicture(
        reducing: planes, pixels: pixels, halfChroma: options.halvesChroma(at: pixels), with: resampler,
        proceed: proceed))
  }

  /// Frees all memory.
  func trim() {
    resampler.trim()
    stored = []
    turned = []
    halved = []
  }

  /// All buffers of samples.
  var buffers: [PlaneBuffer] { stored + turned + halved }

  /// Resizes one plane and turns it.
  private func resize(
    _ picture: DecodedPicture, plane index: Int, _ placement: Placement, isHalf: Bool, proceed: CancellationCheck
  ) throws(ThumbnailError) -> PlaneView {
    let pixels = placement.pixels
    var size = pixels
    var region = placement.region
    if isHalf {
      // At an odd width, half of the last chroma sample is beyond the picture's edge, so the region has to extend as
      // far, and likewise at an odd height. It extends to the right and downwards as displayed; `storedRect` moves that
      // to the matching sides of the stored picture.
      size = PixelSize(width: (pixels.width + 1) / 2, height: (pixels.height + 1) / 2)
      region.width *= Double(2 * size.width) / Double(pixels.width)
      region.height *= Double(2 * size.height) / Double(pixels.height)
    }
    let plane = picture.planes[index]
    let storedSize = picture.orientation.apply(to: size)
    let part = picture.orientation.storedRect(of: region, in: picture.pixels)
      .scaled(from: picture.pixels, toColumns: plane.columnsExact, rows: plane.rowsExact)
    let target = try buffer(index, in: &stored).plane(columns: storedSize.width, rows: storedSize.height)
    try resampler.resample(plane.view, region: part, into: target, proceed: proceed)
    return try turn(target, index, picture.orientation, proceed)
  }

  private func turn(
    _ plane: PlaneView, _ index: Int, _ orientation: Orientation, _ proceed: CancellationCheck
  ) throws(ThumbnailError) -> PlaneView {
    guard orientation != .upright else { return plane }
    let size = orientation.apply(to: PixelSize(width: plane.columns, height: plane.rows))
    let target = try buffer(index, in: &turned).plane(columns: size.width, rows: size.height)
    try orientation.turn(plane, into: target, proceed: proceed)
    return target
  }

  /// Turns full-size planes, and halves chroma if that is asked for.
  private func finish(
    _ planes: [PlaneView], _ orientation: Orientation, halvesChroma: Bool, proceed: CancellationCheck
  ) throws(ThumbnailError) -> [PlaneView] {
    var finished: [PlaneView] = []
    for (index, plane) in planes.enumerated() {
      let upright = try turn(plane, index, orientation, proceed)
      guard index > 0, halvesChroma else {
        finished.append(upright)
        continue
      }
      let half = try buffer(index, in: &halved)
        .plane(columns: (upright.columns + 1) / 2, rows: (upright.rows + 1) / 2)
      try Self.halve(upright, into: half, proceed)
      finished.append(half)
    }
    return finished
  }

  /// Averages two by two samples; an odd last column or row counts twice.
  private static func halve(
    _ plane: PlaneView, into target: PlaneView, _ proceed: CancellationCheck
  ) throws(ThumbnailError) {
    for y in 0..<target.rows {
      if y % 16 == 15 { try proceed() }
      let upper = plane.row(2 * y)
      let lower = plane.row(min(2 * y + 1, plane.rows - 1))
      let line = target.row(y)
      for x in 0..<target.columns {
        let left = 2 * x
        let right = min(left + 1, plane.columns - 1)
        line[x] = UInt8((Int(upper[left]) + Int(upper[right]) + Int(lower[left]) + Int(lower[right]) + 2) / 4)
      }
    }
  }

  private func convertGrey(
    _ planes: [PlaneView], _ conversion: ProfileConversion, _ proceed: CancellationCheck
  ) throws(ThumbnailError) {
    guard case .grey(let table) = conversion, let plane = planes.first else { return }
    for y in 0..<plane.rows {
      if y % 16 == 15 { try proceed() }
      let line = plane.row(y)
      for x in 0..<plane.columns { line[x] = table[Int(line[x])] }
    }
  }

  private func buffer(_ index: Int, in buffers: inout [PlaneBuffer]) -> PlaneBuffer {
    while buffers.count <= index { buffers.append(PlaneBuffer()) }
    return buffers[index]
  }
}
