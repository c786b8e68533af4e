/// How a picture is divided into MCUs. The sampling factors of a component are the columns and rows of its blocks in
/// each MCU (ITU-T T.81, A.2).
struct MCUGrid {
  /// The largest sampling factors.
  let hMax: Int
  let vMax: Int
  /// MCUs across and down, including those that extend beyond the picture.
  let across: Int
  let down: Int

  init(_ pixels: PixelSize, sampling: [(h: Int, v: Int)]) {
    hMax = sampling.map(\.h).max() ?? 1
    vMax = sampling.map(\.v).max() ?? 1
    across = pixels.width.ceilingQuotient(8 * hMax)
    down = pixels.height.ceilingQuotient(8 * vMax)
  }
}

extension SourceInfo {
  var grid: MCUGrid { MCUGrid(pixels, sampling: sampling) }
}

extension Int {
  /// This divided by `size`, rounded up.
  func ceilingQuotient(_ size: Int) -> Int { (self + size - 1) / size }
}
