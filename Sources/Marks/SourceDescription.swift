import Foundation
import Thumbnails

/// What a manifest and a gallery say about a photo: its upright size, its orientation and its placeholder.
package struct SourceDescription: Sendable, Hashable {
  /// The size of the upright picture.
  package let pixels: PixelSize
  package let orientation: Orientation
  package let placeholder: Placeholder

  package init(pixels: PixelSize, orientation: Orientation, placeholder: Placeholder) {
    (self.pixels, self.orientation, self.placeholder) = (pixels, orientation, placeholder)
  }
}

/// The comment, after the mark, of thumbnails that a job with joins makes. It describes the source and the thumbnail, so
/// that a later run need not decode them again:
///
///     thumbjob-source 4000x3000 6 256x192 #a1b2c3 1QcSHQRnh493V4dIh4eXh1h4kJUI
///
/// These are the size of the upright source, its Exif orientation, the size of the thumbnail, the mean colour, and the
/// ThumbHash.
package struct DescriptionComment: Sendable, Hashable {
  private static let prefix = "thumbjob-source "
  /// The most bytes of the comment in any format: what frames its text, five words, and two sizes of at most 65,535 pixels a side.
  package static let longest = CommentCarriers.longestOverhead + longestText
  private static let longestText = prefix.utf8.count + 11 + 2 + 1 + 11 + 1 + 7 + 1 + 36

  package let source: SourceDescription
  /// The size of the thumbnail.
  package let pixels: PixelSize

  package init(_ source: SourceDescription, _ pixels: PixelSize) {
    (self.source, self.pixels) = (source, pixels)
  }

  /// The comment.
  var text: [UInt8] {
    Array(
      (Self.prefix + "\(source.pixels.text) \(source.orientation.rawValue) \(pixels.text) \(source.placeholder)").utf8)
  }

  /// Reads the text of a comment; nil if it is no description.
  package init?(text content: ArraySlice<UInt8>) {
    guard content.count <= Self.longestText, content.starts(with: Self.prefix.utf8) else { return nil }
    let words = String(decoding: content.dropFirst(Self.prefix.utf8.count), as: UTF8.self).split(separator: " ")
    guard words.count == 5, let source = PixelSize(text: words[0]), let number = Int(words[1]),
      let orientation = Orientation(rawValue: number), let pixels = PixelSize(text: words[2]),
      let placeholder = Placeholder(color: words[3], thumbHash: words[4])
    else { return nil }
    self.init(SourceDescription(pixels: source, orientation: orientation, placeholder: placeholder), pixels)
  }
}

extension PixelSize {
  fileprivate var text: String { "\(width)x\(height)" }

  /// Reads a size such as `256x192`; nil if it is none that a thumbnail may have.
  fileprivate init?(text: Substring) {
    let sides = text.split(separator: "x", omittingEmptySubsequences: false).map { UInt16($0) ?? 0 }
    guard sides.count == 2, sides.allSatisfy({ $0 > 0 }) else { return nil }
    self.init(width: Int(sides[0]), height: Int(sides[1]))
  }
}

extension Placeholder {
  /// Reads a colour such as `#a1b2c3` and a ThumbHash in Base64; nil if they are none.
  fileprivate init?(color: Substring, thumbHash: Substring) {
    guard color.utf8.count == 7, color.hasPrefix("#"), let rgb = UInt32(color.dropFirst(), radix: 16),
      let hash = Data(base64Encoded: String(thumbHash)), (5...25).contains(hash.count)
    else { return nil }
    self.init(
      meanColor: RGBColor(
        red: UInt8(rgb >> 16), green: UInt8(rgb >> 8 & 0xFF), blue: UInt8(rgb & 0xFF)), thumbHash: Array(hash))
  }
}
