/// A finished thumbnail, handed to whoever asked for it.
public struct Thumbnail {
  /// The size it was asked for by.
  public let size: SizeSpec
  /// The size it came out.
  public let pixels: PixelSize
  /// The whole JPEG file. Valid during the call it is handed over in, no longer: the buffer is used again.
  public let bytes: UnsafeRawBufferPointer
}
