#if !Formats
// A build without the trait Formats has no Little CMS. It converts no colours, but leaves the profile in the thumbnail, so that
// viewers show the right ones.

final class ProfileTransform {
  private init() {}

  func convert(_ pixels: UnsafePointer<UInt8>, into rgb: UnsafeMutablePointer<UInt8>, count: Int) {}
}

enum ProfileContext {
  static func allowance(forProfileOf size: Int) -> Int { 0 }
}

final class ProfileReader {
  func conversion(for bytes: UnsafeBufferPointer<UInt8>, kind: ProfileKind) -> ProfileConversion { .identity }

  func conversion(for encoding: ColorEncoding, kind: ProfileKind) -> ProfileConversion { .identity }

  func trim() {}
}
#endif
