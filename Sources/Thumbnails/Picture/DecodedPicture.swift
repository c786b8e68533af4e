/// One component of a decoded source.
package struct DecodedPlane {
  let view: PlaneView
  /// The columns and rows of samples that the picture covers, with the fraction of the last one: at odd sizes, half of
  /// the last chroma sample is outside the picture.
  let columnsExact: Double
  let rowsExact: Double

  package init(view: PlaneView, columnsExact: Double, rowsExact: Double) {
    (self.view, self.columnsExact, self.rowsExact) = (view, columnsExact, rowsExact)
  }
}

/// A decoded source: one plane for each component, at the decoding scale, neither turned nor converted.
package struct DecodedPicture {
  /// The whole picture's size at full scale, as stored.
  let pixels: PixelSize
  let orientation: Orientation
  let model: ColorModel
  let planes: [DecodedPlane]

  package init(pixels: PixelSize, orientation: Orientation, model: ColorModel, planes: [DecodedPlane]) {
    (self.pixels, self.orientation, self.model, self.planes) = (pixels, orientation, model, planes)
  }
}
