/// The colour conversion for a source's profile, and the metadata to keep.
struct SourceExtras {
  private(set) var conversion = ProfileConversion.identity
  private var profile: [UInt8] = []
  private var exif: ExifBlock?
  private let keepsPlace: Bool
  private var copyright: [UInt8] = []

  /// - parameter block: the TIFF structure with the EXIF tags; may be empty.
  private init(exif block: UnsafeBufferPointer<UInt8>, _ keep: KeptMetadata) {
    keepsPlace = keep.contains(.gps)
    if keep.contains(.exif) || keepsPlace {
      exif = ExifBlock(block)
    } else if keep.contains(.copyright) {
      copyright = ExifBlock(block)?.extractCopyright() ?? []
    }
  }

  /// For a picture of another format.
  init(
    _ encoding: ColorEncoding, exif block: [UInt8], _ keep: KeptMetadata, _ profiles: ProfileReader, _ model: ColorModel
  ) {
    self = block.withUnsafeBufferPointer { Self(exif: $0, keep) }
    let found = profiles.conversion(for: encoding, kind: model.profileKind)
    if keep.leavesProfile, model.profileKind != .cmyk, case .profile(let bytes) = encoding {
      if case .unusable = found { return }
      profile = bytes
    } else {
      conversion = found
    }
  }

  /// For a JPEG file.
  init(_ decoder: JPEGDecoder, _ keep: KeptMetadata, _ profiles: ProfileReader, _ model: ColorModel) {
    self.init(exif: decoder.exif, keep)
    guard !decoder.profile.isEmpty else { return }
    let found = profiles.conversion(for: decoder.profile, kind: model.profileKind)
    if keep.leavesProfile, model.profileKind != .cmyk {
      if case .unusable = found { return }
      profile = Array(decoder.profile)
    } else {
      conversion = found
    }
  }

  func metadata(for pixels: PixelSize) -> ThumbnailMetadata {
    ThumbnailMetadata(exif: exif?.whole(for: pixels, withPlace: keepsPlace) ?? copyright, profile: profile)
  }
}
