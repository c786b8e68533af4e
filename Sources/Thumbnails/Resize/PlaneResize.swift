/// Some consecutive rows of a plane.
struct PlaneRows {
  /// The rows that are there.
  let view: PlaneView
  /// The index in the plane of the first one.
  let first: Int

  /// The index in the plane of the row after the last one.
  var end: Int { first + view.rows }
}

/// A resize of one plane to one target whose rows are made from top to bottom, as soon as the plane's rows are there.
struct PlaneResize {
  let across: FixedFilter
  let down: FixedFilter
  let target: PlaneView
  /// The next row of the target.
  fileprivate(set) var next = 0

  /// The first row of the plane that is still needed; past the last one if the target is complete.
  var firstNeeded: Int { next < down.count ? Int(down.starts[next]) : down.samples }
}

extension Resampler {
  /// Makes the target's next rows, as far as the plane's rows go.
  ///
  /// - parameters:
  ///   - rows: rows of the plane, from `firstNeeded` or earlier on.
  ///   - proceed: called every few thousand products of 16 samples.
  /// - throws: the errors of `proceed`.
  func advance(
    _ resize: inout PlaneResize, with rows: PlaneRows, proceed: CancellationCheck
  ) throws(ThumbnailError) {
    precondition(rows.first <= resize.firstNeeded && rows.end <= resize.down.samples)
    precondition(rows.view.columns == resize.across.samples)
    while resize.next < resize.down.count, resize.down.end(of: resize.next) <= rows.end {
      try makeRow(resize.next, of: resize, from: rows, proceed)
      resize.next += 1
    }
  }
}
