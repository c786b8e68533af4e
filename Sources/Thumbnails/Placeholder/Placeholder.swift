import Foundation

/// What a page can show in the place of a picture until it is loaded: the mean colour, and a blurred picture in a few
/// bytes.
///
/// It is made of what its thumbnail shows, before JPEG compression: the upright picture, and only the part that a size
/// with `^` crops, or with the changed proportions of a size with `!`. Samples count as sRGB. They are, unless the
/// thumbnail keeps its profile (``KeptMetadata/icc``); then the colours are as wrong as in a program that ignores profiles.
public struct Placeholder: Sendable, Hashable, CustomStringConvertible {
  /// The mean of sRGB's values over all pixels; not of their light, which would be brighter.
  public let meanColor: RGBColor
  /// The picture's ThumbHash, of 17 to 24 bytes, from which a page draws a blurred picture of about the same proportions.
  ///
  /// *Source*: Evan Wallace, https://evanw.github.io/thumbhash/.
  public let thumbHash: [UInt8]

  public init(meanColor: RGBColor, thumbHash: [UInt8]) {
    self.meanColor = meanColor
    self.thumbHash = thumbHash
  }

  /// The bytes of the ThumbHash in Base64, with padding, as JSON files and pages keep them.
  public var thumbHashText: String { Data(thumbHash).base64EncodedString() }

  /// `#a1b2c3 1QcSHQRnh493V4dIh4eXh1h4kJUI`: the mean colour and the ThumbHash.
  public var description: String { "\(meanColor) \(thumbHashText)" }
}

extension Placeholder {
  /// Makes the placeholder of a small picture.
  init(_ picture: SmallPicture) {
    meanColor = picture.meanColor
    thumbHash = ThumbHash.bytes(of: picture)
  }
}
