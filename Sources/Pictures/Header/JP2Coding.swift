import Thumbnails

/// How a JPEG 2000 picture is coded, for its decoder.
public struct JP2Coding: Sendable, Hashable {
  /// The picture without some resolution levels.
  public struct Resolution: Sendable, Hashable {
    public var pixels: PixelSize
    /// The most bytes that decoding takes, besides the header's `workingBytes`.
    public var bytes: Int
  }

  /// The parts of the file in the order of a decoder's request: the codestream, and the contents of the boxes `pclr`, `cmap`
  /// and `cdef`. One that the file does not have is empty.
  public var extents: [FileExtent]
  /// The picture without as many levels as the index says. Every tile has them all, of each component.
  public var resolutions: [Resolution]
}
