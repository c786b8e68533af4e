import CDecoding
import Thumbnails

/// How the merged picture of a Photoshop file is stored.
public struct PSDLayout: Sendable, Hashable {
  /// Where its first row is; if it is packed, the sizes of all rows are there.
  public var data: UInt64
  /// The channels that the file has, of which the first are shown.
  public var channels: Int
  /// The bits of a sample: 1, 8 or 16.
  public var bits: Int
  public var isPacked: Bool
  /// The bytes of the size of a packed row: 2, or 4 in large documents (PSB).
  public var sizeBytes: Int
  /// The colours of indices: 256 reds, greens and blues; nil if samples are no indices.
  public var palette: UInt64?
  /// Whether the channel after the colours is the alpha of the picture.
  public var hasAlpha: Bool
  /// Whether 0 is full (inks).
  public var isInverted: Bool

  /// The same for the decoder.
  var description: cdecoding_psd {
    var psd = cdecoding_psd()
    (psd.data, psd.channels, psd.bits) = (data, UInt32(channels), UInt32(bits))
    (psd.is_packed, psd.size_bytes, psd.palette) = (isPacked, UInt32(sizeBytes), palette ?? 0)
    (psd.has_alpha, psd.is_inverted) = (hasAlpha, isInverted)
    return psd
  }
}
