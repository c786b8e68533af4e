import Files
import JobSettings
import Thumbnails

/// The estimated time of one processor to make the thumbnails of a source, in units of 100 ns.
///
/// The estimate is for comparing sources, so that lists of equal estimates take about equally long. How long a list really
/// takes depends on the machine and on the sizes of the thumbnails.
struct SourceCost: Sendable, Equatable {
  /// For opening, encoding and writing: what a photo of no size takes.
  static let fixed = 4_500
  /// For each 1,024 bytes of the file. Bytes count most: entropy decoding reads each of them.
  static let ofKiB = 12
  /// For each 1,024 pixels.
  static let of1024Pixels = 3

  /// For a request to a decoder process, which other formats than JPEG need.
  static let ofDecoder = 5_000

  private static let mostPixels = JobSettings().limitPixels

  let units: UInt32

  /// Fitted to 160 files in a release build (2 cores at 2.6 GHz, 2026-11-23, one size of 256): the photographs of the
  /// benchmarks, as baseline and progressive files, and reduced ones of 160 to 640 pixels. Half of the estimates are
  /// within 41 % of the measured time. That suffices, because errors cancel out over the many sources of a list.
  ///
  /// - Parameters:
  ///   - bytes: the size of the file.
  ///   - pixels: those of its header; 0 if it has none that can be read.
  init(bytes: Int, pixels: Int) {
    let kibibytes = max(0, bytes) >> 10
    let units = Self.fixed.saturating(plus: Self.ofKiB.saturating(times: kibibytes))
      .saturating(plus: Self.of1024Pixels.saturating(times: max(0, pixels) >> 10))
    self.units = UInt32(clamping: max(units, Self.fixed))
  }

  /// The cost of a picture in another format than JPEG, whose pixels are all decoded.
  ///
  /// - Parameter pixels: those of its header. A picture with more than a run accepts costs nothing but its header.
  init(_ type: ImageType, pixels: Int) {
    let decoded = pixels > Self.mostPixels ? 0 : max(0, pixels) >> 10
    units = UInt32(clamping: Self.fixed + Self.ofDecoder + Self.of1024Pixels(type) * decoded)
  }

  /// For each 1,024 pixels: from the times for 24 megapixels in docs/formats.md (2026-11-24).
  private static func of1024Pixels(_ type: ImageType) -> Int {
    switch type {
    case .heic: 550
    case .png: 240
    case .avif: 160
    case .webp, .gif: 110
    default: 100
    }
  }
}
