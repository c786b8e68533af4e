/// The reason why `BlockDecoder` could not decode a source.
enum BlockDecoderError: Error {
  /// The file is of an unusual kind, or ends early. libjpeg, which supports more kinds, may be able to decode it.
  case irregular
  /// The file breaks the format in a scan whose samples are needed. libjpeg would not always notice it.
  case corrupt(Corruption)
  /// Decoding was cancelled, the source is unreadable, or memory ran out. libjpeg would fail too.
  case failed(ThumbnailError)
}

/// A fault of entropy-coded data.
struct Corruption: Hashable {
  enum Fault: String {
    case noSuchCode = "a Huffman code does not exist"
    case tooManyCoefficients = "a block has too many coefficients"
    case valueOutOfRange = "a coefficient is out of range"
  }

  let fault: Fault
  /// The bit of the window at which the faulty symbol begins. It may be after the end of the data, where bits mean
  /// nothing.
  let position: Int

  init(_ fault: Fault, at position: Int) {
    self.fault = fault
    self.position = position
  }
}
