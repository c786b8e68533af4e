/// The reason why `BlockDecoder` could not decode a source.
enum BlockDecoderError: Error {
  /// The file is damaged or of an unusual kind. libjpeg, which supports more kinds and tolerates damage, may be able to
  /// decode it.
  case irregular
  /// Decoding was cancelled, the source is unreadable, or memory ran out. libjpeg would fail too.
  case failed(ThumbnailError)
}
