/// Why `BlockDecoder` could not decode a source.
enum BlockDecoderError: Error {
  /// The file is damaged or of an unusual kind. libjpeg, which supports every kind of JPEG, may be able to decode it.
  case irregular
  /// Cancelled, unreadable or out of memory: libjpeg would fail too.
  case failed(ThumbnailError)
}
