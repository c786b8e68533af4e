/// Why the blocks of a source could not be decoded.
enum BlockDecoderError: Error {
  /// The file is not one that the decoder is sure of. Another, which knows every kind of JPEG and every fault, tells
  /// whether there is a picture in it.
  case irregular
  /// Stopped, or unreadable: another decoder would fare no better.
  case failed(ThumbnailError)
}
