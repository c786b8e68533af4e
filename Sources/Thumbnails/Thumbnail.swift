/// A finished thumbnail.
public struct Thumbnail {
  /// The requested size.
  public let size: SizeSpec
  package let format: ThumbnailFormat
  /// The actual size.
  public let pixels: PixelSize
  /// The whole file. It is valid only during the call of `deliver`, because the buffer is reused.
  public let bytes: UnsafeRawBufferPointer
  /// The source's placeholder, which all its sizes share, made of the first one; nil unless the options ask for it.
  public let placeholder: Placeholder?

  package var rendition: Rendition { Rendition(size, format) }
}
