/// The colour conversion for a source's profile, and the metadata to keep.
struct SourceExtras {
  private(set) var conversion = ProfileConversion.identity
  private var profile: [UInt8] = []
  private var exif: ExifBlock?
  private let keepsPlace: Bool
  private var copyright: [UInt8] = []

  init(_ decoder: JPEGDecoder, _ keep: KeptMetadata, _ profiles: ProfileReader, _ model: ColorModel) {
    keepsPlace = keep.contains(.gps)
    if keep.contains(.exif) || keepsPlace {
      exif = ExifBlock(decoder.exif)
    } else if keep.contains(.copyright) {
      copyright = ExifBlock(decoder.exif)?.extractCopyright() ?? []
    }
    guard !decoder.profile.isEmpty else { return }
    let found = profiles.conversion(for: decoder.profile, kind: model.profileKind)
    if keep.contains(.icc), model.profileKind != .cmyk {
      if case .unusable = found { return }
      profile = Array(decoder.profile)
    } else {
      conversion = found
    }
  }

  func metadata(for pixels: PixelSize) -> JPEGEncoder.Metadata {
    JPEGEncoder.Metadata(exif: exif?.whole(for: pixels, withPlace: keepsPlace) ?? copyright, profile: profile)
  }
}
