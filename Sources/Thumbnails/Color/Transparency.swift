/// Samples of transparent pictures.
enum Transparency {
  /// Turns samples that are multiplied by their alpha into those of the colours themselves, in place. Where nothing shows, they
  /// become 0.
  ///
  /// - parameter proceed: called every 16 rows.
  /// - throws: the errors of `proceed`.
  static func divide(
    _ planes: [PlaneView], by alpha: PlaneView, proceed: CancellationCheck
  ) throws(ThumbnailError) {
    for row in 0..<alpha.rows {
      if row % 16 == 15 { try proceed() }
      let weights = alpha.row(row)
      for plane in planes {
        let line = plane.row(row)
        for x in 0..<alpha.columns where weights[x] < 255 { line[x] = divided(line[x], by: weights[x]) }
      }
    }
  }

  /// The sample of a colour that was multiplied by its alpha; 0 if nothing of it shows.
  @inline(__always)
  static func divided(_ sample: UInt8, by alpha: UInt8) -> UInt8 {
    let weight = Int(alpha)
    return weight == 0 ? 0 : UInt8(min((Int(sample) * 255 + weight / 2) / weight, 255))
  }

  /// Mixes a colour in where the picture is transparent, in place.
  ///
  /// - parameters:
  ///   - background: the values of the colour, one for each plane at least.
  ///   - proceed: called every 16 rows.
  /// - throws: the errors of `proceed`.
  static func mix(
    _ planes: [PlaneView], _ alpha: PlaneView, with background: [UInt8], proceed: CancellationCheck
  ) throws(ThumbnailError) {
    for row in 0..<alpha.rows {
      if row % 16 == 15 { try proceed() }
      let weights = alpha.row(row)
      for (plane, color) in zip(planes, background) {
        let line = plane.row(row)
        for x in 0..<alpha.columns where weights[x] < 255 {
          let weight = Int(weights[x])
          line[x] = UInt8((Int(line[x]) * weight + Int(color) * (255 - weight) + 127) / 255)
        }
      }
    }
  }

  /// Averages two by two samples, each as much as it shows; an odd last column or row counts twice. Where nothing shows, chroma
  /// becomes that of grey.
  ///
  /// - parameter proceed: called every 16 rows.
  /// - throws: the errors of `proceed`.
  static func halve(
    _ plane: PlaneView, _ alpha: PlaneView, into target: PlaneView, proceed: CancellationCheck
  ) throws(ThumbnailError) {
    for y in 0..<target.rows {
      if y % 16 == 15 { try proceed() }
      let line = target.row(y)
      for x in 0..<target.columns {
        var (sum, weights) = (0, 0)
        for row in [2 * y, min(2 * y + 1, plane.rows - 1)] {
          for column in [2 * x, min(2 * x + 1, plane.columns - 1)] {
            let weight = Int(alpha.row(row)[column])
            sum += Int(plane.row(row)[column]) * weight
            weights += weight
          }
        }
        line[x] = weights == 0 ? 128 : UInt8((sum + weights / 2) / weights)
      }
    }
  }
}
