/// A thumbnail before it is encoded: upright, and in sRGB unless its profile is kept.
package struct RenderedPicture {
  package let pixels: PixelSize
  /// One grey plane, or three as `layout` says.
  package let colors: [PlaneView]
  /// Nil if the thumbnail is not transparent. Colours are not multiplied by it.
  package let alpha: PlaneView?
  package let layout: SampleLayout
}

/// What is written into a thumbnail besides its picture; empty where there is nothing.
package struct ThumbnailMetadata: Sendable {
  /// The TIFF structure with the EXIF tags.
  package var exif: [UInt8] = []
  package var profile: [UInt8] = []
}

/// Encodes thumbnails in the formats that a maker does not encode itself: all but JPEG.
package protocol ThumbnailEncoder {
  /// - parameters:
  ///   - picture: its planes stay valid during the call.
  ///   - options: how thumbnails are made.
  ///   - monitor: decides whether to stop.
  /// - returns: the bytes of the file.
  func encode(
    _ picture: RenderedPicture, as format: ThumbnailFormat, _ options: ThumbnailOptions,
    _ metadata: ThumbnailMetadata, monitor: (any ThumbnailMonitor)?
  ) throws -> [UInt8]
}
