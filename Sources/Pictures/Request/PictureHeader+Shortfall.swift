import Foundation
import Thumbnails

extension PictureHeader {
  /// No camera that writes RAW files has fewer pixels.
  private static let fewestPixels = 1_000_000

  /// The part of the wanted pixels that a preview must have.
  private static let enough = 0.95

  /// Why the picture has too few pixels for its thumbnails; nil if it has enough. That happens to RAW files, of which only a
  /// preview is shown.
  ///
  /// - Throws: ``ThumbnailError`` if a limit is exceeded.
  public func shortfall(for options: ThumbnailOptions) throws(ThumbnailError) -> String? {
    guard type.isRaw else { return nil }
    let factor = sqrt(Double(max(wholePixelCount ?? 0, Self.fewestPixels)) / Double(pixels.count))
    let whole = PixelSize(width: Int(Double(pixels.width) * factor), height: Int(Double(pixels.height) * factor))
    guard factor > 1, whole.width > 0, whole.height > 0 else { return nil }
    for size in options.sizes {
      let made = size.placement(for: orientedPixels)
      let wanted = size.placement(for: orientation.apply(to: whole))
      // A sensor has a few more pixels than the largest picture that the camera makes.
      let isSmaller = Double(made.pixels.width) < Self.enough * Double(wanted.pixels.width)
      guard isSmaller || made.reduction < min(wanted.reduction, 1) * Self.enough else { continue }
      return "its largest preview has only \(orientedPixels) pixels, too few for a thumbnail of the size asked for"
    }
    return nil
  }
}
