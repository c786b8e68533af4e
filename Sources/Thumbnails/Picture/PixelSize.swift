/// A picture's width and height, in pixels.
public struct PixelSize: Sendable, Hashable, CustomStringConvertible {
  public var width: Int
  public var height: Int

  public init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  /// The count of pixels.
  public var count: Int { width * height }

  /// `4000 × 3000`.
  public var description: String { "\(width) × \(height)" }

  /// The size with width and height swapped.
  var transposed: PixelSize { PixelSize(width: height, height: width) }
}
