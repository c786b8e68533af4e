/// What the options mean for the encoder of a format.
package struct FormatEncoding: Sendable, Equatable {
  /// In the encoder's own scale: for WebP 0 to 100, for AVIF the quantizer from 63 to 0.
  package let quality: Int
  /// 0 to 9.
  package let effort: Int
  package let isLossless: Bool

  package init(_ format: ThumbnailFormat, _ options: ThumbnailOptions) {
    let quality = Double(min(max(options.quality, 1), 100))
    self.quality =
      switch format {
      case .jpeg, .png: 0
      case .webp: Int(Self.value(at: quality, of: Self.webp).rounded())
      case .avif: Int(Self.value(at: quality, of: Self.avif).rounded())
      }
    effort = min(max(options.effort ?? format.usualEffort, 0), 9)
    isLossless = format == .png || format == .webp && options.lossless
  }

  /// The qualities that look as much like the photos as JPEG of a quality, by the mean SSIM of luma over photographs of 256 and
  /// 1024 pixels (docs/formats.md).
  private static let webp: [(jpeg: Double, own: Double)] = [
    (1, 0), (20, 18), (30, 24), (40, 33), (50, 42), (60, 51), (70, 65), (75, 73), (80, 78), (85, 82), (90, 87),
    (95, 94),
    (100, 100),
  ]
  private static let avif: [(jpeg: Double, own: Double)] = [
    (1, 63), (20, 45), (30, 40), (40, 37), (50, 34), (60, 32), (70, 29), (75, 27), (80, 24), (85, 20), (90, 14),
    (95, 7),
    (100, 0),
  ]

  /// The value between the known ones on either side.
  private static func value(at quality: Double, of known: [(jpeg: Double, own: Double)]) -> Double {
    guard let next = known.firstIndex(where: { $0.jpeg >= quality }) else { return known[known.count - 1].own }
    if next == 0 { return known[0].own }
    let (low, high) = (known[next - 1], known[next])
    return low.own + (high.own - low.own) * (quality - low.jpeg) / (high.jpeg - low.jpeg)
  }
}

extension ThumbnailFormat {
  /// The effort unless one is asked for.
  fileprivate var usualEffort: Int {
    switch self {
    case .jpeg: 0
    case .webp: 4
    case .avif: 3
    case .png: 6
    }
  }
}
