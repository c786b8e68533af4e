import Thumbnails

/// How the thumbnails of a picture are made.
public enum PicturePlan: Sendable {
  /// From a JPEG in the file, which is turned like this for display.
  case jpeg(FileExtent, Orientation)
  /// By a decoder.
  case decoder(DecodeRequest, PictureHeader)
}

extension PictureHeader {
  /// Chooses the smallest version of the picture that is large enough for every thumbnail.
  ///
  /// - Throws: ``ThumbnailError`` if a limit is exceeded.
  public func plan(for options: ThumbnailOptions) throws(ThumbnailError) -> PicturePlan {
    let placements = try options.placements(for: pixels, orientation)
    let reduction = options.linear ? 1 : placements.map(\.reduction).min() ?? 1
    if type.isRaw, options.previews == .never {
      throw .unsupported("only the preview in it could be shown, and previews are not to be used", type: type)
    }
    // Reduced pages of a TIFF file are no previews: programs that scale pictures write them.
    let usesSmaller = options.previews != .never || type == .tiff
    let version = usesSmaller ? smallestVersion(for: orientedPixels.reduced(by: reduction)) : self
    if case .jpeg(let extent) = version.coding { return .jpeg(extent, version.orientation) }
    // As displayed, because the file may turn one version and not the other.
    let factor = Double(version.orientedPixels.width) / Double(orientedPixels.width)
    return .decoder(
      DecodeRequest(
        version, reduction: reduction * factor, background: version.isTransparent(in: options) ? nil : options.color,
        failMask: options.failOn.mask), version)
  }
}

extension DecodeRequest {
  /// The peak memory for making these thumbnails, in bytes, beyond that of an idle maker: that of this process and of the
  /// decoder.
  public func bytesNeeded(for options: ThumbnailOptions, header: PictureHeader) throws(ThumbnailError) -> Int {
    let placements = try options.placements(for: header.pixels, header.orientation, hasAlpha: keepsAlpha)
    let filtered = Int(planes[0].columns) + Int(planes[0].rows)
    let shape = RenderingShape(
      components: planes.count, hasAlpha: keepsAlpha, orientation: header.orientation, convertsPixels: true,
      filteredSamples: filtered)
    let profile = header.profileBytes
    let exif = options.keep.isDisjoint(with: [.exif, .copyright, .gps]) ? 0 : Int(header.exif?.size ?? 0) * 6
    let working = 640 << 10
    return memorySize + decoderBytes + RenderingMemory(shape, placements, options).total + profile * 6 + exif + working
  }
}

extension PictureHeader {
  /// Whether any thumbnail of the picture is transparent.
  fileprivate func isTransparent(in options: ThumbnailOptions) -> Bool {
    hasAlpha && canvas == nil && options.keepsAlpha
  }
}

extension ThumbnailOptions {
  /// The colour where a picture is transparent, in thumbnails that cannot be.
  fileprivate var color: RGBColor { background ?? .white }
}
