/// One component of a decoded source.
struct DecodedPlane {
  let view: PlaneView
  /// Columns and rows that the picture covers, with the fraction of the last one: at odd sizes the last chroma sample
  /// lies half outside the picture.
  let columnsExact: Double
  let rowsExact: Double
}

/// A decoded source: one plane for each component, at the decoding scale, neither turned nor converted.
struct DecodedPicture {
  /// The whole picture's size at full scale, as stored.
  let pixels: PixelSize
  let orientation: Orientation
  let model: ColorModel
  let planes: [DecodedPlane]
}
