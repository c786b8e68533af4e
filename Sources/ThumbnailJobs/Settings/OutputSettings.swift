import Files
import Thumbnails

/// The settings of one output: a folder and the thumbnails in it.
public struct OutputSettings: Sendable, Equatable {
  public var folder: Path = "thumbs"
  /// At least one size. If there are several, each has a folder with its name in ``folder``.
  public var sizes = [SizeSpec.standard]
  /// 1 to 100.
  public var quality = 80
  public var progressive = false
  public var subsample = ChromaSubsampling.s420
  /// Which metadata to copy from the source; none by default.
  public var keep: KeptMetadata = []
  /// Resample in linear light.
  public var linear = false

  public init() {}

  /// A message about two sizes that would share a folder; nil if no two do.
  static func clash(in sizes: [SizeSpec]) -> String? {
    var names: Set<String> = []
    return sizes.first { !names.insert($0.name).inserted }.map { size in
      "two sizes are called \(size.name); give them names, as in small=\(size)"
    }
  }

  /// The options that determine the bytes of a thumbnail.
  func thumbnailOptions(failOn: FailOn, limitPixels: Int) -> ThumbnailOptions {
    ThumbnailOptions(
      sizes: sizes, quality: quality, progressive: progressive, subsampling: subsample, keep: keep, linear: linear,
      failOn: failOn, limitPixels: limitPixels)
  }
}
