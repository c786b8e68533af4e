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
  /// The bytes of the photo; nil if it is not told.
  package let size: Int?
  /// The time of the photo with microseconds, as tumbler compares it. Nil for a whole second, and in an entry that was read.
  private let exactly: String?
  private var details: [(keyword: String, text: String)] = []

  private static let (uriKey, timeKey, sizeKey) = ("Thumb::URI", "Thumb::MTime", "Thumb::Size")
  /// The bytes of a file in which the texts are looked for.
  package static let headSize = 1 << 14

  /// - Parameters:
  ///   - uri: of the photo; nil if the entry has no URI.
  ///   - size: of the photo, in bytes.
  ///   - type: the media type of the photo; nil if it is not known.
  package init(uri: String?, modified: timespec, size: Int, type: String?) {
    (self.uri, self.modified, self.size) = (uri, modified.tv_sec, size)
    let microseconds = modified.tv_nsec / 1000
    let digits = String(microseconds)
    exactly =
      (1..<1_000_000).contains(microseconds)
      ? "\(modified.tv_sec)." + String(repeating: "0", count: 6 - digits.utf8.count) + digits : nil
    details = [(Self.sizeKey, "\(size)")] + (type.map { [("Thumb::Mimetype", $0)] } ?? []) + [("Software", "thumbjob")]
  }

  /// Reads the texts of a PNG file; nil if it is none, or does not say when the photo was changed.
  ///
  /// - Parameter head: the first ``headSize`` bytes, or all of the file if it has fewer.
  package init?(head: [UInt8]) {
    let texts = PNGText.all(in: head[...])
    // tumbler adds microseconds.
    guard let modified = texts[Self.timeKey].flatMap({ Int($0.prefix { $0 != "." }) }) else { return nil }
    exactly = nil
    (uri, self.modified, size) = (texts[Self.uriKey], modified, texts[Self.sizeKey].flatMap { Int($0) })
  }

  /// The texts as parts of a PNG file.
  ///
  /// tumbler takes the first text with the time, of any kind, and wants microseconds. GIO wants the whole second, and reads only
  /// the chunks `tEXt`.
  package var bytes: [UInt8] {
    let texts = (uri.map { [(Self.uriKey, $0)] } ?? []) + [(Self.timeKey, "\(modified)")] + details
    return (exactly.map { PNGText.international(Self.timeKey, $0) } ?? [])
      + texts.flatMap { PNGText.chunk($0.0, Array($0.1.utf8)) }
  }

  /// A file that says that the photo has no thumbnail: a grey pixel with the texts.
  package var failure: [UInt8] {
    let pixel = Array(Data(base64Encoded: Self.pixel)!)
    return Array(pixel[..<PNGComments.longestStart]) + bytes + pixel[PNGComments.longestStart...]
  }

  private static let pixel =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg=="

  /// Whether this is the entry of a photo that has this time and so many bytes. If the URI or the size is missing or
  /// compressed, the other texts decide.
  ///
  /// - Parameter uri: of the photo; nil where the name of the entry tells.
  package func isOf(uri: String?, modified: Int, size: Int) -> Bool {
    self.modified == modified && (uri == nil || self.uri == nil || self.uri == uri)
      && (self.size == nil || self.size == size)
  }
}
