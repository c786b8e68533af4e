import Thumbnails

/// Where the samples of tiles and components are (B.2 and B.3).
struct JP2Grid: Hashable {
  struct Component: Hashable {
    var bits: Int
    /// The steps of its samples, in units of the reference grid.
    var across: Int
    var down: Int
  }

  /// The picture in the reference grid.
  private let left: Int
  private let top: Int
  private let right: Int
  private let bottom: Int
  /// The size of tiles, and where the first one begins.
  private let tile: PixelSize
  private let tileLeft: Int
  private let tileTop: Int
  let components: [Component]

  /// Reads the contents of the marker segment SIZ (A.5.1).
  init(_ fields: inout BoxFields) throws(ThumbnailError) {
    try fields.skip(2)
    var numbers: [Int] = []
    for _ in 0..<8 { numbers.append(Int(try fields.u32())) }
    (right, bottom, left, top) = (numbers[0], numbers[1], numbers[2], numbers[3])
    tile = PixelSize(width: numbers[4], height: numbers[5])
    (tileLeft, tileTop) = (numbers[6], numbers[7])
    let count = try fields.u16()
    guard left < right, top < bottom, count > 0 else { throw .damaged("the picture has no pixels") }
    guard max(right, bottom) <= Int(Int32.max) else { throw .unsupported("a reference grid of \(right) × \(bottom)") }
    guard tile.width > 0, tile.height > 0, tileLeft <= left, tileTop <= top, left < tileLeft + tile.width,
      top < tileTop + tile.height
    else { throw .damaged("its first tile is outside the picture") }
    var components: [Component] = []
    for _ in 0..<count {
      let component = Component(bits: try fields.u8() & 0x7F + 1, across: try fields.u8(), down: try fields.u8())
      guard component.across > 0, component.down > 0 else { throw .damaged("a component has no samples") }
      guard component.bits <= 31 else { throw .unsupported("samples of \(component.bits) bits") }
      components.append(component)
    }
    self.components = components
    guard tileColumns <= 65535, tileRows <= 65535, tileColumns * tileRows <= 65535 else {
      throw .damaged("it has \(tileColumns) × \(tileRows) tiles")
    }
  }

  private var tileColumns: Int { (right - tileLeft).quotientUp(tile.width) }
  private var tileRows: Int { (bottom - tileTop).quotientUp(tile.height) }
  var tileCount: Int { tileColumns * tileRows }

  /// The samples of a component without so many resolution levels.
  func size(of component: Component, discarding levels: Int) -> PixelSize {
    let step = 1 << min(levels, 32)
    func length(_ start: Int, _ end: Int, _ step: Int, _ level: Int) -> Int {
      end.quotientUp(step).quotientUp(level) - start.quotientUp(step).quotientUp(level)
    }
    return PixelSize(
      width: length(left, right, component.across, step), height: length(top, bottom, component.down, step))
  }

  /// The samples of a component that a tile has at most.
  func tileSize(of component: Component) -> PixelSize {
    let whole = size(of: component, discarding: 0)
    return PixelSize(
      width: min(whole.width, tile.width / component.across + 1),
      height: min(whole.height, tile.height / component.down + 1))
  }

  /// How many pixels a sample of the second and third component covers. One if they differ, if they cover another number, or if
  /// the picture begins within a sample; the decoder then repeats samples.
  func chroma(of components: [Component]) -> (across: Int, down: Int) {
    let (luma, second, third) = (components[0], components[1], components[2])
    let (across, down) = (second.across / luma.across, second.down / luma.down)
    guard second.across == third.across, second.down == third.down, [1, 2, 4].contains(across),
      [1, 2, 4].contains(down),
      across * luma.across == second.across, down * luma.down == second.down,
      left.quotientUp(luma.across) % across == 0, top.quotientUp(luma.down) % down == 0
    else { return (1, 1) }
    return (across, down)
  }
}
