/// The size of a thumbnail: a box, and how the picture is fitted into it.
///
/// | text | thumbnail |
/// | --- | --- |
/// | `256` | fits into 256 × 256 |
/// | `300x200` | fits into 300 × 200 |
/// | `300x` · `x200` | 300 wide, of any height · 200 high, of any width |
/// | `300x200^` | fills 300 × 200; the rest is cropped, half on each side |
/// | `300x200^top` | the same, but the top stays in view; other positions are those of ``CropPosition`` |
/// | `300x200!` | exactly 300 × 200, stretched |
///
/// By default, and with `>`, a picture is not enlarged: one that is smaller than its box keeps its size, or with `^` is
/// cropped to the box's shape. `<` allows enlarging. `!` enlarges too, unless it is combined with `>`. `name=SPEC`
/// names the size. Sizes apply to the picture as displayed, after EXIF orientation.
public struct SizeSpec: Sendable, Hashable, CustomStringConvertible {
  /// How the picture is fitted into the box.
  public enum Mode: Sendable, Hashable { case fit, fill, exact }

  /// The size's name: the text before `=`, or one made of the box, such as `256x256` or `300x200-fill`.
  public let name: String
  /// The box's width in pixels; nil for any width.
  public let width: Int?
  /// The box's height in pixels; nil for any height.
  public let height: Int?
  public let mode: Mode
  /// Which part of a picture stays in view; always the centre if nothing is cropped.
  public let position: CropPosition
  /// Whether a small picture is enlarged to its box.
  public let enlarges: Bool

  init(name: String?, width: Int?, height: Int?, mode: Mode, position: CropPosition, enlarges: Bool) {
    self.width = width
    self.height = height
    self.mode = mode
    self.position = position
    self.enlarges = enlarges
    self.name = name ?? Self.defaultName(width, height, mode, position, enlarges: enlarges)
  }

  /// A size.
  ///
  /// - parameters:
  ///   - width: the box's width in pixels; nil for any width.
  ///   - height: the box's height in pixels; nil for any height.
  ///   - mode: how the picture is fitted into the box. Those other than `fit` need both sides.
  ///   - position: which part of a picture stays in view if it is cropped.
  ///   - enlarges: whether a small picture is enlarged to its box.
  ///   - name: nil for one made of the others.
  /// - throws: `SizeSpecError` with the reason why this is no size.
  public init(
    width: Int?, height: Int?, mode: Mode = .fit, position: CropPosition = .centre, enlarges: Bool = false,
    name: String? = nil
  ) throws(SizeSpecError) {
    let size = SizeSpec(
      name: name, width: width, height: height, mode: mode, position: position, enlarges: enlarges)
    // The same rules hold as for a size in a text.
    self = try SizeSpec(parsing: name == nil ? size.unnamed : "\(size.name)=\(size.unnamed)")
  }

  /// The largest side of a box, in pixels, which is the largest that libjpeg writes.
  public static let maximumSide = 65_500

  /// The size as a user would type it in full, such as `256x256` or `cover=300x200^<`.
  public var description: String {
    let isUnnamed = name == Self.defaultName(width, height, mode, position, enlarges: enlarges)
    return isUnnamed ? unnamed : "\(name)=\(unnamed)"
  }

  /// The size as a user would type it without a name, such as `300x200^<`.
  public var unnamed: String {
    let box = Self.box(width, height)
    return switch mode {
    case .fit: enlarges ? "\(box)<" : box
    case .fill: "\(box)^\(position == .centre ? "" : position.description)\(enlarges ? "<" : "")"
    case .exact: enlarges ? "\(box)!" : "\(box)!>"
    }
  }

  private static func box(_ width: Int?, _ height: Int?) -> String {
    "\(width.map(String.init) ?? "")x\(height.map(String.init) ?? "")"
  }

  /// A name that is valid for a folder and differs for different sizes.
  private static func defaultName(
    _ width: Int?, _ height: Int?, _ mode: Mode, _ position: CropPosition, enlarges: Bool
  ) -> String {
    let box = box(width, height)
    return switch mode {
    case .fit: enlarges ? "\(box)-enlarged" : box
    case .fill: "\(box)-fill\(position == .centre ? "" : "-\(position.name)")\(enlarges ? "-enlarged" : "")"
    case .exact: enlarges ? "\(box)-exact" : "\(box)-exact-limited"
    }
  }
}
