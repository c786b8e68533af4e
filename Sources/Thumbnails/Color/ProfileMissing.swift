#if !Formats
// A build without the trait Formats has no Little CMS. It converts no colours, but leaves the profile in the thumbnail, so that
// viewers show the right colours. The profile of a CMYK picture is left out.

final class ProfileTransform {
  private init() {}

  func convert(_ pixels: UnsafePointer<UInt8>, into rgb: UnsafeMutablePointer<UInt8>, count: Int) {}
}

enum ProfileContext {
  static func allowance(forProfileOf size: Int) -> Int { 0 }
}

final class ProfileReader {
  /// Checks only the header: whether the profile is for pictures of this kind.
  ///
  /// Source: ICC.1:2010, 7.2.
  func conversion(for bytes: UnsafeBufferPointer<UInt8>, kind: ProfileKind) -> ProfileConversion {
    let space =
      switch kind {
      case .grey: "GRAY"
      case .rgb: "RGB "
      case .cmyk: "CMYK"
      }
    guard bytes.count >= 128, bytes[36..<40].elementsEqual("acsp".utf8), bytes[16..<20].elementsEqual(space.utf8) else {
      return .unusable
    }
    let size = bytes[0..<4].reduce(0) { $0 << 8 | Int($1) }
    return (128...bytes.count).contains(size) ? .identity : .unusable
  }

  func conversion(for encoding: ColorEncoding, kind: ProfileKind) -> ProfileConversion { .identity }

  func trim() {}
}
#endif
