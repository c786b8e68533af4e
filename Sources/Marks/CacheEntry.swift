import Files
import Foundation

/// What a thumbnail in the cache of desktops says of its photo: texts of the PNG file.
///
/// *Source*: freedesktop.org, Thumbnail Managing Standard, "Thumbnail Creation".
package struct CacheEntry: Sendable {
  /// The URI of the photo; nil if it cannot be read here.
  package let uri: String?
  /// When the photo was changed, in seconds since 1970.
  package let modified: Int
  private var details: [(keyword: String, text: String)] = []

  private static let (uriKey, timeKey) = ("Thumb::URI", "Thumb::MTime")
  /// The bytes of a file in which the texts are looked for.
  package static let headSize = 1 << 14

  /// - Parameters:
  ///   - size: of the photo, in bytes.
  ///   - type: the media type of the photo; nil if it is not known.
  package init(uri: String, modified: Int, size: Int, type: String?) {
    (self.uri, self.modified) = (uri, modified)
    details = [("Thumb::Size", "\(size)")] + (type.map { [("Thumb::Mimetype", $0)] } ?? []) + [("Software", "thumbjob")]
  }

  /// Reads the texts of a PNG file; nil if it is none, or does not say when the photo was changed.
  ///
  /// - Parameter head: the first ``headSize`` bytes, or all of the file if it has fewer.
  package init?(head: [UInt8]) {
    let texts = PNGText.all(in: head[...])
    guard let modified = texts[Self.timeKey].flatMap({ Int($0) }) else { return nil }
    (uri, self.modified) = (texts[Self.uriKey], modified)
  }

  /// The texts as parts of a PNG file.
  package var bytes: [UInt8] {
    let texts = [(Self.uriKey, uri ?? ""), (Self.timeKey, "\(modified)")] + details
    return texts.flatMap { PNGText.chunk($0.0, Array($0.1.utf8)) }
  }

  /// A file that says that the photo has no thumbnail: a grey pixel with the texts.
  package var failure: [UInt8] {
    let pixel = Array(Data(base64Encoded: Self.pixel)!)
    return Array(pixel[..<PNGComments.longestStart]) + bytes + pixel[PNGComments.longestStart...]
  }

  private static let pixel =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg=="

  /// Whether this is the entry of a photo in the state that it had at this time. Programs that compress texts leave the URI to
  /// be told by the name of the file.
  package func isOf(uri: String, modified: Int) -> Bool {
    self.modified == modified && (self.uri == nil || self.uri == uri)
  }
}
