import Thumbnails

/// What a client gets for its picture.
package struct Preview: Sendable {
  /// The whole file.
  package let bytes: [UInt8]
  package let mediaType: String
  package let pixels: PixelSize
}

/// What the header of a picture says, with the keys of imaginary's `/info`.
package struct PictureDescription: Sendable, Codable, Equatable {
  /// As displayed.
  package let width: Int
  package let height: Int
  package let type: String
  /// The EXIF orientation, of 1 to 8.
  package let orientation: Int
}
