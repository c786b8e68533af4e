import Fetching
import Files
import Pictures
import Places
import Thumbnails

/// The thumbnails of one format, as the attributes of an image on a web page want them: HTML's `type`, `srcset`, `src`, `width`
/// and `height`. docs/manifest.md describes the fields.
struct SourceSet: Encodable {
  let type: String
  /// The addresses of all thumbnails with their widths, from small to large.
  let srcset: String
  /// The address of the largest one.
  let src: String
  /// That of the largest one.
  let width: Int
  let height: Int

  /// In the order in which a browser should take them: smaller files first. Every browser shows the last two.
  private static let order: [ThumbnailFormat] = [.avif, .webp, .jpeg, .png]

  /// A set for each format. All have the shape of the largest thumbnail: a browser takes pictures of one set for the same.
  ///
  /// - Parameters:
  ///   - thumbnails: of one source.
  ///   - folder: from which the addresses lead: absolute, without links.
  static func all(of thumbnails: [MadeThumbnail], from folder: Path) -> [SourceSet] {
    let sorted = thumbnails.sorted { $0.pixels.count < $1.pixels.count }
    guard let largest = sorted.last else { return [] }
    return order.compactMap { format in
      SourceSet(sorted.filter { $0.format == format && $0.pixels.hasShape(of: largest.pixels) }, format, from: folder)
    }
  }

  /// - Parameter thumbnails: from small to large; nil if there are none.
  private init?(_ thumbnails: [MadeThumbnail], _ format: ThumbnailFormat, from folder: Path) {
    guard let largest = thumbnails.last else { return nil }
    func address(_ thumbnail: MadeThumbnail) -> String { thumbnail.path.leading(from: folder).urlText }
    // Outputs may have thumbnails of one width.
    var widths: Set<Int> = []
    srcset = thumbnails.filter { widths.insert($0.pixels.width).inserted }
      .map { "\(address($0)) \($0.pixels.width)w" }.joined(separator: ", ")
    (type, src) = (format.mediaType, address(largest))
    (width, height) = (largest.pixels.width, largest.pixels.height)
  }
}
