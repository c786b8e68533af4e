#if !Formats
/// A build without the trait Formats has no libexif, and keeps no EXIF.
final class ExifBlock {
  init?(_ block: UnsafeBufferPointer<UInt8>) { return nil }

  func whole(for pixels: PixelSize, withPlace: Bool) -> [UInt8] { [] }

  func extractCopyright() -> [UInt8] { [] }
}
#endif
