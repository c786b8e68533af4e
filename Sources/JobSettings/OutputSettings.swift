import Fetching
import Files
import Thumbnails

/// The settings of one output: a folder and the thumbnails in it.
package struct OutputSettings: Sendable, Equatable {
  /// A folder, or a part of a bucket such as `s3://bucket/thumbs`.
  package var folder: Path = "thumbs"
  /// The places of the thumbnails in the folder; nil means that they mirror the tree of the sources.
  package var name: NamePattern?
  /// At least one size. If there are several, each has a folder with its name in ``folder``, unless ``name`` tells them
  /// apart.
  package var sizes = [SizeSpec.standard]
  /// 1 to 100.
  package var quality = 80
  package var progressive = false
  package var subsample = ChromaSubsampling.auto
  /// Which metadata to copy from the source; none by default.
  package var keep: KeptMetadata = []
  /// Resample in linear light.
  package var linear = false
  /// The colour where a picture is transparent.
  package var background = RGBColor.white
  /// Whether smaller pictures in the files of cameras are used.
  package var previews = Previews.auto

  package init() {}

  /// The part of a bucket for the thumbnails; nil if they go to a folder.
  package var location: S3Location? {
    guard folder.isURL, case .s3(let location)? = try? RemoteAddress(parsing: folder.bytes) else { return nil }
    return location.asFolder
  }

  /// The folder, or the part of a bucket with a slash at its end.
  package var place: Path { location.map { RemoteAddress.s3($0).path } ?? folder }

  /// A message about two sizes that would share a folder; nil if no two do.
  static func clash(in sizes: [SizeSpec]) -> String? {
    var named: [String: SizeSpec] = [:]
    for size in sizes {
      guard let other = named.updateValue(size, forKey: size.name) else { continue }
      return other == size
        ? "\(size) is given twice"
        : "two sizes are called \(size.name); give them other names, as in small=\(size.unnamed)"
    }
    return nil
  }

  /// A message about two sizes to which ``name`` gives one place; nil if it gives each its own.
  var clashOfPlaces: String? {
    guard let name, name.tellsSizes else { return nil }
    var sizes: [Path: SizeSpec] = [:]
    for size in self.sizes {
      if let other = sizes.updateValue(size, forKey: name.place(of: "photo.jpg", size: size)) {
        return "“\(Path(name.description).printable)” gives the sizes \(other.unnamed) and \(size.unnamed) one place; "
          + "without %w and %h each has a folder of its own"
      }
    }
    return nil
  }

  /// The options that determine the bytes of a thumbnail.
  package func thumbnailOptions(failOn: FailOn, limitPixels: Int) -> ThumbnailOptions {
    ThumbnailOptions(
      sizes: sizes, quality: quality, progressive: progressive, subsampling: subsample, keep: keep, linear: linear,
      failOn: failOn, background: background, previews: previews, limitPixels: limitPixels)
  }
}
