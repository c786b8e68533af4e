/// Renders a decoded picture as the planes of one thumbnail: resized, in sRGB, upright.
///
/// A YCbCr or grey picture in sRGB is only resized, plane by plane, without conversion to RGB and without chroma
/// upsampling. Other pictures are converted after resizing, because that is cheap at the thumbnail's size; only
/// resizing in linear light has to convert first.
final class ThumbnailRenderer {
  let resampler = Resampler()
  /// The targets of each thumbnail that is resized at the same time.
  private var stored = [[PlaneBuffer]]()
  private var turned = [PlaneBuffer]()
  private var halved = [PlaneBuffer]()

  /// How one thumbnail is made.
  struct Order {
    var placement: Placement
    let conversion: ProfileConversion
    let options: ThumbnailOptions

    /// The conversion of pixels, if there is one.
    var transform: ProfileTransform? { if case .pixels(let found) = conversion { found } else { nil } }

    func isLinear(_ model: ColorModel) -> Bool { options.linear && model.profileKind != .cmyk }

    /// Whether planes are only resized, and chroma to its own size at once.
    func isPlain(_ shape: PictureShape) -> Bool {
      if isLinear(shape.model) || shape.hasAlpha || transform != nil { return false }
      return shape.model == .grey || shape.model == .ycc(.bt601) && !placement.layout.isRGB
    }
  }

  /// Makes one thumbnail's planes. They are valid until the next call.
  ///
  /// - parameter proceed: called between planes and every few rows.
  /// - throws: `outOfMemory`, and the errors of `proceed`.
  func render(
    _ picture: DecodedPicture, _ order: Order, proceed: CancellationCheck
  ) throws(ThumbnailError) -> RenderedPicture {
    var order = order
    if order.placement.seeksAttention {
      let attention = try Attention(of: picture, with: resampler, proceed: proceed)
      order.placement.region = attention.moved(order.placement.region)
    }
    let targets = try targets(of: picture.shape, order, place: 0)
    if order.isLinear(picture.model) {
      try LinearResampler(conversion: order.conversion)
        .resample(picture, region: targets.parts[0], into: targets.planes, proceed: proceed)
    } else {
      for (index, plane) in picture.planes.enumerated() {
        try proceed()
        try resampler.resample(
          plane.view, region: targets.parts[index], into: targets.planes[index], proceed: proceed)
      }
    }
    return try finish(targets, of: picture.shape, order, proceed: proceed)
  }

  /// The planes to which a picture is resized for one thumbnail. They are valid until the next call with this place.
  ///
  /// - throws: `outOfMemory`.
  func targets(of shape: PictureShape, _ order: Order, place: Int) throws(ThumbnailError) -> ResizeTargets {
    let placement = order.placement
    let halvesChroma = order.isPlain(shape) && placement.layout.halvesChroma
    var planes: [PlaneView] = []
    var parts: [PixelRect] = []
    while stored.count <= place { stored.append([]) }
    for (index, plane) in shape.planes.enumerated() {
      var (size, region) = (placement.pixels, placement.region)
      if index > 0, halvesChroma {
        // At an odd width, half of the last chroma sample is beyond the picture's edge, so the region has to extend as
        // far, and likewise at an odd height. It extends to the right and downwards as displayed; `storedRect` moves that
        // to the matching sides of the stored picture.
        size = PixelSize(width: (size.width + 1) / 2, height: (size.height + 1) / 2)
        region.width *= Double(2 * size.width) / Double(placement.pixels.width)
        region.height *= Double(2 * size.height) / Double(placement.pixels.height)
      }
      parts.append(
        shape.orientation.storedRect(of: region, in: shape.pixels)
          .scaled(from: shape.pixels, toColumns: plane.columnsExact, rows: plane.rowsExact))
      let storedSize = shape.orientation.apply(to: size)
      planes.append(
        try buffer(index, in: &stored[place]).plane(columns: storedSize.width, rows: storedSize.height))
    }
    return ResizeTargets(planes: planes, parts: parts)
  }

  /// Converts and turns planes that a picture has been resized to. The planes made are valid until the next call.
  ///
  /// - parameter proceed: called between planes and every few rows.
  /// - throws: `outOfMemory`, and the errors of `proceed`.
  func finish(
    _ targets: ResizeTargets, of shape: PictureShape, _ order: Order, proceed: CancellationCheck
  ) throws(ThumbnailError) -> RenderedPicture {
    let (pixels, layout) = (order.placement.pixels, order.placement.layout)
    if order.isPlain(shape) {
      var planes: [PlaneView] = []
      for (index, plane) in targets.planes.enumerated() {
        try proceed()
        planes.append(try turn(plane, index, shape.orientation, proceed))
      }
      try convertGrey(planes, order.conversion, proceed)
      return RenderedPicture(pixels: pixels, colors: planes, alpha: nil, layout: layout)
    }
    var model = shape.model
    let isLinear = order.isLinear(model)
    if isLinear, case .ycc = model { model = .rgb }
    var components = targets.planes
    let alpha = shape.hasAlpha ? components.removeLast() : nil
    try proceed()
    // In linear light, they are divided already.
    if let alpha, !isLinear { try Transparency.divide(components, by: alpha, proceed: proceed) }
    if !isLinear { try convertGrey(components, order.conversion, proceed) }
    try ColorConverter(model: model, transform: isLinear ? nil : order.transform, toRGB: layout.isRGB)
      .convert(components, proceed: proceed)
    let colors = Array(components.prefix(model == .grey ? 1 : 3))
    if let alpha, !layout.keepsAlpha {
      let background = order.options.background ?? .white
      let values =
        layout.isRGB ? [background.red, background.green, background.blue] : YCbCrMatrix.bt601.ycc(background)
      try Transparency.mix(colors, alpha, with: values, proceed: proceed)
    }
    var shown: PlaneView?
    if let alpha, layout.keepsAlpha { shown = try turn(alpha, Self.alphaIndex, shape.orientation, proceed) }
    let finished = try finish(
      colors, shape.orientation, alpha: shown, halvesChroma: layout.halvesChroma, proceed: proceed)
    return RenderedPicture(pixels: pixels, colors: finished, alpha: shown, layout: layout)
  }

  /// The index of the buffer in which alpha is turned.
  private static let alphaIndex = 3

  /// Makes the placeholder of a thumbnail.
  ///
  /// - parameters:
  ///   - picture: the thumbnail, as `render` has made it. It must not be transparent.
  ///   - proceed: called between planes and every few rows.
  /// - throws: `outOfMemory`, and the errors of `proceed`.
  func placeholder(
    of picture: RenderedPicture, proceed: CancellationCheck
  ) throws(ThumbnailError) -> Placeholder {
    Placeholder(try SmallPicture(reducing: picture, with: resampler, proceed: proceed))
  }

  /// Frees all memory.
  func trim() {
    resampler.trim()
    stored = []
    turned = []
    halved = []
  }

  /// All buffers of samples.
  var buffers: [PlaneBuffer] { stored.joined() + turned + halved }

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
    _ planes: [PlaneView], _ orientation: Orientation, alpha: PlaneView?, halvesChroma: Bool,
    proceed: CancellationCheck
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
      if let alpha {
        try Transparency.halve(upright, alpha, into: half, proceed: proceed)
      } else {
        try Self.halve(upright, into: half, proceed)
      }
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
