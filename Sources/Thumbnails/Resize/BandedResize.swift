/// Resizes a picture to any number of targets while it is decoded from top to bottom, a band at a time. It holds only the
/// rows of each plane that a target still needs. Much smaller targets are made from larger ones at the end.
///
/// *Concurrency*: for one thread at a time.
final class BandedResize {
  /// How a component is decoded: the memory of a row, the rows of a band, and those of all bands.
  struct Layout {
    let plane: PlaneShape
    let stride: Int
    let bandRows: Int
    let paddedRows: Int

    /// The rows that are held at most.
    ///
    /// - parameter taps: the most rows that a row of a target needs.
    func heldRows(taps: Int) -> Int { min(paddedRows, taps + 2 * bandRows) }
  }

  /// A window onto the rows of one plane.
  private struct Window {
    let layout: Layout
    let memory: PlaneView
    /// The rows in the window. Those after the plane's last row only fill up its last band.
    var rows = 0..<0
    var resizes: [PlaneResize]
  }

  private let resampler: Resampler
  /// They own the memory of the windows.
  private let buffers: [PlaneBuffer]
  private var windows: [Window] = []
  /// The targets that are made from others.
  private let derived: [(larger: ResizeTargets, target: ResizeTargets)]

  /// - parameters:
  ///   - layouts: of the components.
  ///   - targets: of each thumbnail.
  ///   - parents: for each, the index of the one that it is made from, or nil.
  ///   - buffers: one for each component. Nothing else may use them meanwhile.
  /// - throws: `outOfMemory`.
  init(
    _ layouts: [Layout], to targets: [ResizeTargets], parents: [Int?], with resampler: Resampler,
    in buffers: [PlaneBuffer]
  ) throws(ThumbnailError) {
    (self.resampler, self.buffers) = (resampler, buffers)
    derived = zip(targets, parents).compactMap { target, parent in parent.map { (targets[$0], target) } }
    let targets = zip(targets, parents).filter { $1 == nil }.map(\.0)
    for (index, layout) in layouts.enumerated() {
      let plane = layout.plane
      let resizes = targets.map { targets in
        resampler.resize(
          columns: plane.columns, rows: plane.rows, region: targets.parts[index], into: targets.planes[index])
      }
      let held = layout.heldRows(taps: resizes.map(\.down.taps).max() ?? 0)
      let memory = try buffers[index].plane(columns: plane.columns, rows: held, stride: layout.stride, paddedRows: held)
      windows.append(Window(layout: layout, memory: memory, resizes: resizes))
    }
  }

  /// The memory of the next band, for each component.
  func nextBand() -> [PlaneView] {
    windows.indices.map { index in
      makeRoom(in: &windows[index])
      let window = windows[index]
      return PlaneView(
        base: window.memory.row(window.rows.count), columns: window.layout.stride, rows: window.layout.bandRows,
        stride: window.layout.stride)
    }
  }

  /// Moves the rows that are still needed to the start of the window, if a band does not fit after them.
  private func makeRoom(in window: inout Window) {
    guard window.rows.count + window.layout.bandRows > window.memory.rows else { return }
    let needed = window.resizes.map(\.firstNeeded).min() ?? window.rows.upperBound
    let kept = min(needed, window.rows.upperBound)..<window.rows.upperBound
    precondition(kept.lowerBound >= window.rows.lowerBound && kept.count + window.layout.bandRows <= window.memory.rows)
    let moved = window.memory.row(kept.lowerBound - window.rows.lowerBound)
    window.memory.base.update(from: moved, count: kept.count * window.layout.stride)
    window.rows = kept
  }

  /// Takes in the band that has just been decoded, and makes all target rows whose input rows are there now.
  ///
  /// - parameter proceed: as for `Resampler.advance`.
  /// - throws: the errors of `proceed`.
  func advance(proceed: CancellationCheck) throws(ThumbnailError) {
    for index in windows.indices {
      let layout = windows[index].layout
      let rows = windows[index].rows.lowerBound..<windows[index].rows.upperBound + layout.bandRows
      windows[index].rows = rows
      let view = PlaneView(
        base: windows[index].memory.base, columns: layout.plane.columns,
        rows: min(rows.upperBound, layout.plane.rows) - rows.lowerBound, stride: layout.stride)
      for target in windows[index].resizes.indices {
        try resampler.advance(
          &windows[index].resizes[target], with: PlaneRows(view: view, first: rows.lowerBound), proceed: proceed)
      }
    }
  }

  /// Makes the remaining targets, after the last band.
  ///
  /// - parameter proceed: as for `Resampler.advance`.
  /// - throws: the errors of `proceed`.
  func finish(proceed: CancellationCheck) throws(ThumbnailError) {
    for (larger, target) in derived {
      for (index, plane) in target.planes.enumerated() {
        let source = larger.planes[index]
        let (whole, part) = (larger.parts[index], target.parts[index])
        let (horizontal, vertical) = (Double(source.columns) / whole.width, Double(source.rows) / whole.height)
        let region = PixelRect(
          x: (part.x - whole.x) * horizontal, y: (part.y - whole.y) * vertical, width: part.width * horizontal,
          height: part.height * vertical)
        try resampler.resample(source, region: region, into: plane, proceed: proceed)
      }
    }
  }
}

/// The planes that the planes of a picture are resized to, for one thumbnail.
struct ResizeTargets {
  let planes: [PlaneView]
  /// The part of each of the picture's planes that is shown, in samples.
  let parts: [PixelRect]
}
