/// The size of one component of a picture at the decoding scale.
struct PlaneShape: Equatable {
  let columns: Int
  let rows: Int
  /// The columns and rows of samples that the picture covers, with the fraction of the last one: at odd sizes, half of
  /// the last chroma sample is outside the picture.
  let columnsExact: Double
  let rowsExact: Double
}

/// The properties of a picture that are known before it is decoded. Its planes have the decoding scale, and are neither
/// turned nor converted.
struct PictureShape {
  /// The whole picture's size at full scale, as stored.
  let pixels: PixelSize
  let orientation: Orientation
  let model: ColorModel
  /// One for each component, and one for alpha.
  let planes: [PlaneShape]
  let hasAlpha: Bool

  init(pixels: PixelSize, orientation: Orientation, model: ColorModel, planes: [PlaneShape], hasAlpha: Bool = false) {
    (self.pixels, self.orientation, self.model) = (pixels, orientation, model)
    (self.planes, self.hasAlpha) = (planes, hasAlpha)
  }
}

/// One component of a decoded source.
package struct DecodedPlane {
  let view: PlaneView
  /// As in `PlaneShape`.
  let columnsExact: Double
  let rowsExact: Double

  package init(view: PlaneView, columnsExact: Double, rowsExact: Double) {
    (self.view, self.columnsExact, self.rowsExact) = (view, columnsExact, rowsExact)
  }

  var shape: PlaneShape {
    PlaneShape(columns: view.columns, rows: view.rows, columnsExact: columnsExact, rowsExact: rowsExact)
  }
}

/// A decoded source: one plane for each component, at the decoding scale, neither turned nor converted. Of a transparent picture,
/// the last plane is alpha, and the samples of the others are multiplied by it.
package struct DecodedPicture {
  /// The whole picture's size at full scale, as stored.
  let pixels: PixelSize
  let orientation: Orientation
  let model: ColorModel
  let planes: [DecodedPlane]
  let hasAlpha: Bool

  package init(
    pixels: PixelSize, orientation: Orientation, model: ColorModel, planes: [DecodedPlane], hasAlpha: Bool = false
  ) {
    (self.pixels, self.orientation, self.model) = (pixels, orientation, model)
    (self.planes, self.hasAlpha) = (planes, hasAlpha)
  }

  var shape: PictureShape {
    PictureShape(
      pixels: pixels, orientation: orientation, model: model, planes: planes.map(\.shape), hasAlpha: hasAlpha)
  }
}
