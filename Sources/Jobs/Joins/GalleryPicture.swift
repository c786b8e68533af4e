import Files
import Marks
import Thumbnails

/// Thumbnails of one size and format: the name of the size, and the folder from the gallery. docs/gallery.md describes the
/// fields.
struct GallerySize: Encodable {
  let name: String
  let folder: JSONPath
  /// The media type of the thumbnails; nil if all of the gallery have the same.
  var type: String?
}

/// A picture of a gallery.
struct GalleryPicture: Encodable {
  /// `[width, height]`, `[width, height, path]` or `null`.
  struct Thumbnail: Encodable {
    let pixels: PixelSize
    /// Its path below the folder of its size, if that is not the path of the source.
    let path: JSONPath?

    func encode(to encoder: any Encoder) throws {
      var list = encoder.unkeyedContainer()
      try list.encode(pixels.width)
      try list.encode(pixels.height)
      if let path { try list.encode(path) }
    }
  }

  let source: JSONPath
  let taken: String?
  let width: Int
  let height: Int
  let thumbhash: String?
  let color: String?
  let thumbnails: [Thumbnail?]

  init(
    source: JSONPath, taken: CaptureDate?, pixels: PixelSize, placeholder: Placeholder?, thumbnails: [Thumbnail?]
  ) {
    (self.source, self.taken, self.thumbnails) = (source, taken?.description, thumbnails)
    (width, height) = (pixels.width, pixels.height)
    (thumbhash, color) = (placeholder?.thumbHashText, placeholder?.meanColor.description)
  }
}

/// A source of a gallery that has no thumbnails.
struct MissingPicture: Encodable {
  let source: JSONPath
  let reason: String
}
