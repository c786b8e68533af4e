/// How large a thumbnail is to be: a box and how the picture is put into it.
///
/// | text | thumbnail |
/// | --- | --- |
/// | `256` | fits into 256 × 256 |
/// | `300x200` | fits into 300 × 200 |
/// | `300x` · `x200` | 300 wide, however high · 200 high, however wide |
/// | `300x200^` | fills 300 × 200: what stands over is cropped off, half on each side |
/// | `300x200!` | exactly 300 × 200, stretched |
///
/// A picture is never enlarged (`>` says so again): one too small for its box keeps its size, and with `^` is cropped
/// to the box's shape without growing. `<` allows enlarging. `!` means exactly, so it enlarges too, unless `>` stands
/// with it. `name=SPEC` names the size. Sizes apply to the picture as it is looked at: after EXIF orientation.
public struct SizeSpec: Sendable, Hashable, CustomStringConvertible {
  /// How the picture is put into the box.
  public enum Mode: Sendable, Hashable { case fit, fill, exact }

  /// What the size is called: the text before `=`, or the box in words, `256x256` or `300x200-fill`.
  public let name: String
  /// The box's width in pixels; nil for as wide as it turns out.
  public let width: Int?
  /// The box's height in pixels; nil for as high as it turns out.
  public let height: Int?
  public let mode: Mode
  /// Whether a small picture grows to its box.
  public let enlarges: Bool

  init(name: String?, width: Int?, height: Int?, mode: Mode, enlarges: Bool) {
    self.width = width
    self.height = height
    self.mode = mode
    self.enlarges = enlarges
    self.name = name ?? Self.defaultName(width: width, height: height, mode: mode, enlarges: enlarges)
  }

  /// The largest box side: JPEG as libjpeg writes it goes no further.
  public static let maximumSide = 65_500

  /// The size as one would type it, in full: `256x256`, `cover=300x200^<`.
  public var description: String {
    var text = Self.box(width, height)
    switch mode {
    case .fit: text += enlarges ? "<" : ""
    case .fill: text += enlarges ? "^<" : "^"
    case .exact: text += enlarges ? "!" : "!>"
    }
    let unnamed = Self.defaultName(width: width, height: height, mode: mode, enlarges: enlarges)
    return name == unnamed ? text : "\(name)=\(text)"
  }

  private static func box(_ width: Int?, _ height: Int?) -> String {
    "\(width.map(String.init) ?? "")x\(height.map(String.init) ?? "")"
  }

  /// A name fit for a folder, different for different sizes.
  private static func defaultName(width: Int?, height: Int?, mode: Mode, enlarges: Bool) -> String {
    let box = box(width, height)
    return switch mode {
    case .fit: enlarges ? "\(box)-enlarged" : box
    case .fill: enlarges ? "\(box)-fill-enlarged" : "\(box)-fill"
    case .exact: enlarges ? "\(box)-exact" : "\(box)-exact-limited"
    }
  }
}
