import Thumbnails

/// The memory that OpenJPEG needs.
struct JP2Memory {
  let grid: JP2Grid
  let style: JP2Style

  /// The most bytes that decoding takes without so many resolution levels, besides the header's `workingBytes`.
  ///
  /// OpenJPEG keeps samples as words of 32 bits, and one code block after the other becomes samples. What it knows of code
  /// blocks it keeps of all of them, also of those that it does not decode.
  ///
  /// Source: OpenJPEG 2.5, the allocations in `j2k.c`, `tcd.c`, `t2.c` and `pi.c`.
  func bytes(discarding levels: Int) -> Int {
    // What a hostile header asks for exceeds the range of integers.
    var bytes = Double(320 << 10) + Double(grid.tileCount) * Double((10 << 10) + grid.components.count * 1200)
    var (mostPrecincts, mostResolutions) = (0.0, 0)
    for (component, style) in zip(grid.components, style.components) {
      let tile = grid.tileSize(of: component)
      let kept = tile.halved(levels)
      // Tiles are copied as whole bytes.
      let copied = grid.tileCount == 1 ? 0 : component.bits <= 8 ? 1 : component.bits <= 16 ? 2 : 4
      bytes += Double(kept.count) * Double(4 + copied)
      // The rows or columns that are transformed at once, and our rows.
      bytes += 96 * Double(max(kept.width, kept.height))
      mostResolutions = max(mostResolutions, style.levels + 1)
      for resolution in 0...style.levels {
        let size = tile.halved(style.levels - resolution)
        let precinct = style.precincts[min(resolution, style.precincts.count - 1)]
        let precincts = size.pieces(across: precinct.across, down: precinct.down)
        mostPrecincts = max(mostPrecincts, precincts)
        // The lowest resolution is a band of its own, another has three of half its size.
        let (bands, half) = resolution == 0 ? (1.0, 0) : (3.0, 1)
        let blocks = size.halved(half).pieces(
          across: min(style.blockAcross, precinct.across - half), down: min(style.blockDown, precinct.down - half))
        let isKept = style.levels - resolution >= levels
        bytes += bands * (precincts * 256 + blocks * blockBytes(style, component, isKept: isKept))
      }
    }
    // For each packet, whether it has been read.
    bytes += Double(style.layers + 1) * Double(mostResolutions) * Double(grid.components.count) * mostPrecincts * 2
    return Int(min(bytes, 1e15))
  }

  /// The bytes for one code block: its structure, its nodes in two tag trees, the segments of its data and where they are.
  private func blockBytes(_ style: JP2Style.Component, _ component: JP2Grid.Component, isKept: Bool) -> Double {
    // Three passes for each bit plane. There are a few more planes than a sample has bits.
    let passes = 3 * (component.bits + 6)
    let segments = style.endsPasses ? passes : style.skipsCoder ? passes * 2 / 3 + 10 : 10
    let places = isKept ? 2 * (min(self.style.layers, passes) + (segments > 10 ? segments : 0)) + 1 : 0
    return Double(192 + (segments + 9) / 10 * 240 + 16 * places)
  }
}

extension PixelSize {
  /// The size without so many resolution levels; one more along each side, because it matters where it begins.
  fileprivate func halved(_ levels: Int) -> PixelSize {
    guard levels > 0 else { return self }
    return PixelSize(width: width >> levels + 1, height: height >> levels + 1)
  }

  /// How many pieces it touches at most, whose sides are powers of 2.
  fileprivate func pieces(across: Int, down: Int) -> Double {
    func count(_ length: Int, _ exponent: Int) -> Double { Double((length + 1 << exponent - 2) >> exponent + 1) }
    return count(width, max(across, 0)) * count(height, max(down, 0))
  }
}
