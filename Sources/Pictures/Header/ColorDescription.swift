/// How the samples' values of a picture correspond to colours.
public enum ColorDescription: Sendable, Hashable {
  /// Nothing is said; the picture counts as sRGB.
  case unknown
  case sRGB
  /// An ICC profile, as it is in the file.
  case profile(FileExtent)
  /// An ICC profile in the file, which is compressed (PNG). The decoder inflates it, if it has at most so many bytes then.
  case compressedProfile(longest: Int)
  /// Primaries and transfer characteristics by number (ITU-T H.273, tables 2 and 3), as PNG's `cICP` and ISO's `nclx` have
  /// them.
  case numbered(primaries: Int, transfer: Int)
  /// A power function with this exponent from samples to light, such as 2.2, and the chromaticities x, y of white, red, green
  /// and blue; those of sRGB if nil (PNG's `gAMA` and `cHRM`).
  case power(Double, chromaticities: [Double]?)
}
