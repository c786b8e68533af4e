/// The part of a picture that a thumbnail shows, and the thumbnail's size and samples.
public struct Placement: Sendable, Hashable {
  /// The thumbnail's size.
  public let pixels: PixelSize
  /// The thumbnail's samples.
  var layout = SampleLayout(colors: .ycc(halvesChroma: false), keepsAlpha: false)
  /// The part of the oriented source that is shown.
  var region: PixelRect
  /// Whether the region has to be moved to the part with the most details, once the picture is decoded.
  private(set) var seeksAttention = false

  /// Whether another thumbnail shows the same, perhaps with other samples.
  func showsSame(as other: Placement) -> Bool {
    (pixels, seeksAttention) == (other.pixels, other.seeksAttention) && region == other.region
  }

  /// The source pixels for each thumbnail pixel, along the axis with fewer.
  package var reduction: Double {
    min(region.width / Double(pixels.width), region.height / Double(pixels.height))
  }
}

extension SizeSpec {
  /// The placement of a picture. The thumbnail's sides are rounded to the nearest pixel, and are at least one.
  ///
  /// - parameter source: the picture's size as displayed, after EXIF orientation.
  public func placement(for source: PixelSize) -> Placement {
    let sourceWidth = Double(source.width)
    let sourceHeight = Double(source.height)
    let whole = PixelRect(x: 0, y: 0, width: sourceWidth, height: sourceHeight)
    // A side without a given length is not limited.
    let horizontal = width.map { Double($0) / sourceWidth } ?? .infinity
    let vertical = height.map { Double($0) / sourceHeight } ?? .infinity

    switch mode {
    case .fit:
      let factor = enlarges ? min(horizontal, vertical) : min(horizontal, vertical, 1)
      return Placement(pixels: Self.rounded(sourceWidth * factor, sourceHeight * factor), region: whole)
    case .exact:
      let limit = enlarges ? Double.infinity : 1
      let pixels = Self.rounded(sourceWidth * min(horizontal, limit), sourceHeight * min(vertical, limit))
      return Placement(pixels: pixels, region: whole)
    case .fill:
      let factor = max(horizontal, vertical)
      let shown = (width: Double(width ?? 1) / factor, height: Double(height ?? 1) / factor)
      let region = PixelRect(
        x: position.start(of: shown.width, in: sourceWidth, across: true),
        y: position.start(of: shown.height, in: sourceHeight, across: false), width: shown.width, height: shown.height)
      let scale = enlarges ? factor : min(factor, 1)
      return Placement(
        pixels: Self.rounded(shown.width * scale, shown.height * scale), region: region,
        seeksAttention: position == .attention)
    }
  }

  private static func rounded(_ width: Double, _ height: Double) -> PixelSize {
    // For a narrow strip, nothing else limits the height of an enlarged `300x`.
    func side(_ length: Double) -> Int { Int(min(max(length.rounded(), 1), Double(maximumSide))) }
    return PixelSize(width: side(width), height: side(height))
  }
}

extension CropPosition {
  /// Where the part that is shown begins, along one axis: at `across`, else at its `y`. Until the attention is known, the
  /// middle is shown.
  fileprivate func start(of shown: Double, in length: Double, across: Bool) -> Double {
    guard case .point(let x, let y) = self, self != .centre else { return (length - shown) / 2 }
    let point = length * Double(across ? x : y) / Double(Self.whole)
    return max(min(point - shown / 2, length - shown), 0)
  }
}

extension ThumbnailOptions {
  /// Whether the chroma planes of a thumbnail have half of its rows and columns.
  ///
  /// - Parameter pixels: the size of the thumbnail.
  func halvesChroma(at pixels: PixelSize) -> Bool {
    switch subsampling {
    case .auto: max(pixels.width, pixels.height) > Self.iconSide
    case .s420: true
    case .s444: false
    }
  }
}

extension [Placement] {
  /// Without those that equal the one before: of a small picture several sizes give the same thumbnail, and several formats take
  /// the same samples.
  var withoutRepeats: [Placement] { enumerated().filter { $0 == 0 || self[$0 - 1] != $1 }.map(\.element) }

  /// For each thumbnail, the larger one that it is made from; nil if it is made from the picture itself.
  ///
  /// The larger one shows at least the same part, and has about twice as many pixels along both sides or more, also of chroma.
  /// So the smaller one does not show what the larger one's filter does to the finest details. The larger one is made from the
  /// picture itself, so that no thumbnail goes through three filters, and it is not enlarged. If several are possible, the
  /// smallest is taken.
  func parents() -> [Int?] {
    var parents = [Int?](repeating: nil, count: count)
    for index in indices.sorted(by: { self[$0].pixels.count > self[$1].pixels.count }) {
      let larger = indices.filter { other in
        parents[other] == nil && self[index].canBeMade(from: self[other]) && self[index].layout == self[other].layout
      }
      parents[index] = larger.min { self[$0].pixels.count < self[$1].pixels.count }
    }
    return parents
  }
}

extension Placement {
  fileprivate func canBeMade(from larger: Placement) -> Bool {
    // A little less than twice, because sides are rounded: 1365 rows become 683.
    let least = 1.95
    func reduces(_ part: Double, _ side: Int, _ largerPart: Double, _ largerSide: Int) -> Bool {
      part / Double(side) >= least * largerPart / Double(largerSide)
    }
    let (part, whole) = (region, larger.region)
    return larger.reduction >= 1 && part.x >= whole.x && part.y >= whole.y
      && part.x + part.width <= whole.x + whole.width && part.y + part.height <= whole.y + whole.height
      && reduces(part.width, pixels.width, whole.width, larger.pixels.width)
      && reduces(part.height, pixels.height, whole.height, larger.pixels.height)
  }
}
