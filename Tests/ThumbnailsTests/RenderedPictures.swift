@testable import Thumbnails

extension RenderedPicture {
  /// A picture of one grey plane, or three of JPEG's YCbCr.
  init(ycc planes: [PlaneView], _ pixels: PixelSize, halvesChroma: Bool) {
    self.init(
      pixels: pixels, colors: planes, alpha: nil,
      layout: SampleLayout(colors: .ycc(halvesChroma: halvesChroma), keepsAlpha: false))
  }
}
