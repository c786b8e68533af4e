extension ThumbnailMaker {
  /// Makes every size of a picture that another decoder has decoded, in the order of the options, and delivers each when it
  /// is done.
  ///
  /// - parameters:
  ///   - picture: its planes stay valid during the call.
  ///   - encoding: of the picture's colours.
  ///   - exif: the TIFF structure with the EXIF tags; may be empty.
  ///   - deliver: receives each thumbnail; its errors are rethrown.
  /// - throws: `ThumbnailError`, and the errors of `deliver`.
  package func makeThumbnails(
    of picture: DecodedPicture, encoding: ColorEncoding, exif: [UInt8], options: ThumbnailOptions,
    monitor: (any ThumbnailMonitor)? = nil, deliver: (Thumbnail) throws -> Void
  ) throws {
    defer { workspace.shrink() }
    let placements = try options.placements(
      for: picture.pixels, picture.orientation, hasAlpha: picture.hasAlpha)
    let extras = SourceExtras(encoding, exif: exif, options.kept(of: picture.model), workspace.profiles, picture.model)
    try ThumbnailRendering(options: options, monitor: monitor, workspace: workspace)
      .run(.whole(picture), placements, extras, deliver: deliver)
  }
}
