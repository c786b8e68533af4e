/// The part of a picture with the most details: where neighbouring areas differ most in brightness and colour.
///
/// The decoded picture, of which mostly only the means of blocks are decoded, is reduced to at most 64 × 64 cells. So
/// fine patterns such as grass, and noise, hardly count. The energy of a cell is the sum of its squared differences from
/// its four neighbours, in all planes. The part that is shown slides along each axis to where it has the most energy. If
/// several places have nearly as much, it is in the middle of these, so that what is small is not at an edge. A picture
/// without details shows its middle.
struct Attention {
  /// The most cells of a side.
  private static let longestSide = 64
  /// The part of the most energy that counts as nearly as much.
  private static let nearly = 0.98

  /// The energy of each column of cells from left to right, and of each row from top to bottom, as displayed.
  private var columns: [Double]
  private var rows: [Double]
  /// The picture's size as displayed.
  private let pixels: PixelSize

  /// - throws: `outOfMemory`, and the errors of `proceed`.
  init(
    of picture: DecodedPicture, with resampler: Resampler, proceed: CancellationCheck
  ) throws(ThumbnailError) {
    pixels = picture.orientation.apply(to: picture.pixels)
    let stored = Self.cells(of: picture)
    let size = picture.orientation.apply(to: stored)
    columns = [Double](repeating: 0, count: size.width)
    rows = [Double](repeating: 0, count: size.height)
    let (reduced, turned) = (PlaneBuffer(), PlaneBuffer())
    let (means, cells) = (
      try reduced.plane(columns: stored.width, rows: stored.height),
      try turned.plane(columns: size.width, rows: size.height)
    )
    for plane in picture.planes {
      try proceed()
      try resampler.average(
        plane.view, columns: plane.columnsExact, rows: plane.rowsExact, into: means, proceed: proceed)
      try picture.orientation.turn(means, into: cells, proceed: proceed)
      add(cells)
    }
  }

  /// At most one cell for each sample of the first plane.
  private static func cells(of picture: DecodedPicture) -> PixelSize {
    let (width, height) = (picture.pixels.width, picture.pixels.height)
    let longest = max(width, height)
    func count(_ side: Int, _ samples: Int) -> Int { max(min(side * longestSide / longest, samples), 1) }
    let samples = picture.planes[0].view
    return PixelSize(width: count(width, samples.columns), height: count(height, samples.rows))
  }

  private mutating func add(_ cells: PlaneView) {
    func difference(_ a: UInt8, _ b: UInt8) -> Double { Double((Int(a) - Int(b)) * (Int(a) - Int(b))) }
    for y in 0..<cells.rows {
      let line = cells.row(y)
      for x in 0..<cells.columns {
        if x + 1 < cells.columns {
          let energy = difference(line[x], line[x + 1])
          columns[x] += energy
          columns[x + 1] += energy
          rows[y] += 2 * energy
        }
        if y + 1 < cells.rows {
          let energy = difference(line[x], cells.row(y + 1)[x])
          rows[y] += energy
          rows[y + 1] += energy
          columns[x] += 2 * energy
        }
      }
    }
  }

  /// Moves a region to the part of the picture with the most details.
  ///
  /// - parameter region: a part of the picture as displayed.
  func moved(_ region: PixelRect) -> PixelRect {
    PixelRect(
      x: Self.start(of: region.width, in: Double(pixels.width), energies: columns),
      y: Self.start(of: region.height, in: Double(pixels.height), energies: rows),
      width: region.width, height: region.height)
  }

  /// Where the part that is shown begins along one axis, in pixels.
  private static func start(of shown: Double, in length: Double, energies: [Double]) -> Double {
    let cell = length / Double(energies.count)
    let last = (length - shown) / cell
    guard last > 0 else { return 0 }
    var sums = [0.0]
    for energy in energies { sums.append((sums.last ?? 0) + energy) }
    /// The energy from the first cell up to a place inside one.
    func sum(to place: Double) -> Double {
      let index = min(max(Int(place), 0), energies.count - 1)
      return sums[index] + energies[index] * min(place - Double(index), 1)
    }
    let starts = (0...Int(last)).map(Double.init) + [last]
    let found = starts.map { sum(to: $0 + shown / cell) - sum(to: $0) }
    guard let most = found.max(), var first = found.firstIndex(of: most) else { return last * cell / 2 }
    var end = first
    while first > 0, found[first - 1] >= most * nearly { first -= 1 }
    while end + 1 < found.count, found[end + 1] >= most * nearly { end += 1 }
    return (starts[first] + starts[end]) / 2 * cell
  }
}
