import Files
import Marks
import Sourcing
import Thumbnails

/// The sizes of a gallery: the name of each, and the folder of its thumbnails from the gallery. docs/gallery.md
/// describes the fields.
struct GallerySize: Encodable {
  let name: String
  let folder: JSONPath
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
  let width: Int
  let height: Int
  let thumbhash: String?
  let color: String?
  let thumbnails: [Thumbnail?]

  init(source: JSONPath, pixels: PixelSize, placeholder: Placeholder?, thumbnails: [Thumbnail?]) {
    (self.source, self.thumbnails) = (source, thumbnails)
    (width, height) = (pixels.width, pixels.height)
    (thumbhash, color) = (placeholder?.thumbHashText, placeholder?.meanColor.description)
  }

  /// Nil if there is no thumbnail.
  ///
  /// - Parameter folders: the folder of each size's thumbnails.
  init?(_ source: Source, _ description: SourceDescription?, _ pictures: [SourceEntry.Picture], folders: [Path]) {
    let largest = pictures.map(\.thumbnail.pixels).max { $0.count < $1.count }
    // Without a description, the largest thumbnail has nearly its shape.
    guard let largest, case let pixels = description?.pixels ?? largest else { return nil }
    var thumbnails = [Thumbnail?](repeating: nil, count: folders.count)
    for picture in pictures {
      let path = picture.thumbnail.path.below(folders[picture.size]) ?? picture.thumbnail.path
      thumbnails[picture.size] = Thumbnail(
        pixels: picture.thumbnail.pixels, path: path == source.relativePath ? nil : JSONPath(path))
    }
    self.init(
      source: JSONPath(source.relativePath), pixels: pixels, placeholder: description?.placeholder,
      thumbnails: thumbnails)
  }
}

/// A source of a gallery that has no thumbnails.
struct MissingPicture: Encodable {
  let source: JSONPath
  let reason: String
}
