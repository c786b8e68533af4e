/// One component of a decoded source.
struct DecodedPlane {
  let view: PlaneView
  /// Columns and rows the picture covers, with the fraction of the last: at odd sizes chroma has a sample that is half
  /// picture, half nothing.
  let columnsExact: Double
  let rowsExact: Double
}

/// A source at the scale it was decoded at: one plane for each component, as stored, before any turning or conversion.
struct DecodedPicture {
  /// The whole picture's size at full scale, as stored.
  let pixels: PixelSize
  let orientation: Orientation
  let model: ColorModel
  let planes: [DecodedPlane]
}
