import Thumbnails

extension ThumbnailMaker {
  /// Makes every size of a picture that a decoder has decoded, in the order of the options, and delivers each when it is
  /// done.
  ///
  /// - Parameters:
  ///   - request: what was asked of the decoder.
  ///   - header: of the picture that was decoded.
  ///   - memory: what the decoder has filled: at least `request.memorySize` bytes.
  ///   - profile: the profile that the decoder has inflated; empty if there is none.
  ///   - source: the whole file, for its profile and EXIF block.
  ///   - monitor: observes progress, and decides whether to stop.
  ///   - deliver: receives each thumbnail; its errors are rethrown.
  /// - Throws: `ThumbnailError`, and the errors of `deliver`.
  public func makeThumbnails(
    of request: DecodeRequest, header: PictureHeader, decodedIn memory: UnsafeRawBufferPointer,
    profile: [UInt8], source: ByteReader, options: ThumbnailOptions, monitor: (any ThumbnailMonitor)? = nil,
    deliver: (Thumbnail) throws -> Void
  ) throws {
    let window = try FileWindow(source)
    let needsExif = !options.keep.isDisjoint(with: [.exif, .copyright, .gps])
    let exif = needsExif ? header.exif.map(window.block) ?? [] : []
    try makeThumbnails(
      of: request.picture(of: header, in: memory), encoding: header.encoding(window, profile), exif: exif,
      options: options, monitor: monitor, deliver: deliver)
  }
}

extension PictureHeader {
  fileprivate func encoding(_ window: FileWindow, _ profile: [UInt8]) -> ColorEncoding {
    switch color {
    case .unknown, .sRGB: return .sRGB
    case .profile(let extent): return Self.encoding(ofProfile: window.block(extent))
    case .compressedProfile: return Self.encoding(ofProfile: profile)
    case .numbered(let primaries, let transfer): return .numbered(primaries: primaries, transfer: transfer)
    case .power(let exponent, let chromaticities): return .power(exponent, chromaticities: chromaticities)
    }
  }

  private static func encoding(ofProfile bytes: [UInt8]) -> ColorEncoding { bytes.isEmpty ? .sRGB : .profile(bytes) }
}

extension FileWindow {
  /// The bytes of a profile or an EXIF block; none if they are too many or cannot be read, which is never an error.
  fileprivate func block(_ extent: FileExtent) -> [UInt8] {
    guard extent.size <= UInt64(PictureHeader.longestBlock) else { return [] }
    return (try? bytes(at: extent.offset, count: Int(extent.size))) ?? []
  }
}
