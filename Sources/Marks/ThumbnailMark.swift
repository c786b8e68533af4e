import Files
import Foundation
import Thumbnails

/// The comment that every thumbnail has near its beginning. It names thumbjob and identifies the settings and the contents of
/// the source.
///
/// The mark distinguishes a thumbnail from an original, which is never overwritten, and from a thumbnail with other
/// settings. Unlike extended attributes, it stays in the file when the file is copied. It takes 63 bytes in a JPEG and
/// reveals nothing about the source but hashes: of its contents, and of its path (``SourceKey``).
package struct ThumbnailMark: Sendable, Hashable {
  private static let prefix = Array("thumbjob ".utf8)
  /// The bytes of what comes before the longest mark, in any format, and of this mark.
  package static let headSize =
    CommentCarriers.longestFrame + prefix.count + Fingerprint.length + 1 + SourceContents.length + 1 + SourceKey.length

  private let settings: Fingerprint
  /// The contents of the source; nil in the marks of earlier versions.
  package let contents: SourceContents?
  /// The key of the source; nil in the marks of earlier versions, and of most thumbnails in buckets.
  package let source: SourceKey?

  /// - Parameter settings: everything except the source that determines the bytes of a thumbnail, as one text.
  package init(settings: String) {
    self.init(Fingerprint(of: settings.utf8), nil, nil)
  }

  private init(_ settings: Fingerprint, _ contents: SourceContents?, _ source: SourceKey?) {
    (self.settings, self.contents, self.source) = (settings, contents, source)
  }

  /// The mark with the same settings for the thumbnail of this source.
  package func of(_ contents: SourceContents, _ source: SourceKey?) -> ThumbnailMark {
    ThumbnailMark(settings, contents, source)
  }

  /// Whether a file has a place for a mark, as every encoder makes it.
  package static func fits(_ file: [UInt8], _ format: ThumbnailFormat) -> Bool {
    ImageType.sniff(file) == format.type && CommentCarriers.find(in: file.prefix(CommentCarriers.longestFrame)) != nil
  }

  /// The same mark for the thumbnail of a source with the same contents.
  package func of(_ source: SourceKey) -> ThumbnailMark { ThumbnailMark(settings, contents, source) }

  /// Whether the settings are the same.
  package func hasSettings(of other: ThumbnailMark) -> Bool { settings == other.settings }

  /// The fingerprints, without the name of the program.
  private var digits: [UInt8] {
    settings.digits + (contents.map { [UInt8(ascii: "=")] + $0.digits } ?? [])
      + (source.map { [UInt8(ascii: " ")] + $0.digits } ?? [])
  }

  /// The mark as text, for the metadata of an object.
  package var text: String { String(decoding: digits, as: UTF8.self) }

  /// Reads a text; nil if it is none of a mark.
  package init?(text: String) { self.init(digits: Array(text.utf8)[...]) }

  /// The file with the mark as its first comment, and after that a description of the source if there is one.
  ///
  /// - Parameter entry: further parts of a PNG file.
  package func inserted(
    into file: UnsafeRawBufferPointer, followedBy description: DescriptionComment? = nil, _ entry: CacheEntry? = nil
  ) -> [UInt8] {
    let head = Array(file.prefix(CommentCarriers.longestFrame))
    // Files of other processes have been checked (`fits`).
    guard let (carrier, start) = CommentCarriers.find(in: head[...]) else {
      preconditionFailure("a thumbnail has no place for its mark")
    }
    let comments =
      carrier.comment(Self.prefix + digits) + (description.map { carrier.comment($0.text) } ?? [])
      + (entry?.bytes ?? [])
    var marked: [UInt8] = []
    marked.reserveCapacity(file.count + comments.count)
    marked += file[..<start]
    marked += comments
    marked += file[start...]
    carrier.adjust(&marked, at: start, by: comments.count)
    return marked
  }

  /// The bytes of a thumbnail with this mark instead of its own; nil if it has none.
  package func replaced(in thumbnail: [UInt8]) -> [UInt8]? {
    Self.unmarked(thumbnail)?.withUnsafeBytes { inserted(into: $0) }
  }

  /// A hash of what a thumbnail looks like: of all its bytes but its mark and what depends on its length; nil if it has none.
  package static func looks(of thumbnail: [UInt8]) -> UInt64? {
    guard let rest = unmarked(thumbnail) else { return nil }
    var hash = XXH64()
    rest.withUnsafeBytes { hash.append($0) }
    return hash.hash
  }

  /// The bytes of a thumbnail without its mark; nil if it has none.
  private static func unmarked(_ thumbnail: [UInt8]) -> [UInt8]? {
    guard let (carrier, start, size) = place(in: thumbnail[...]) else { return nil }
    var rest = thumbnail
    rest.removeSubrange(start..<start + size)
    carrier.adjust(&rest, at: start + size, by: -size)
    return rest
  }

  /// Where the mark of a file is; nil if it has none.
  ///
  /// - Parameter head: the first ``headSize`` bytes, or all of the file if it has fewer.
  private static func place(
    in head: ArraySlice<UInt8>
  ) -> (carrier: any CommentCarrier.Type, start: Int, size: Int)? {
    guard let (carrier, start) = CommentCarriers.find(in: head),
      let comment = carrier.comment(at: head.dropFirst(start)), ThumbnailMark(comment: comment.text) != nil
    else { return nil }
    return (carrier, start, comment.size)
  }

  /// The same for several thumbnails together, in their order; nil if it is not known of one.
  package static func looks(together looks: [UInt64?]) -> UInt64? {
    looks.reduce(UInt64(looks.count)) { sum, looks in
      sum.flatMap { sum in looks.map { ($0 ^ sum) &* 0x9E37_79B1_85EB_CA87 } }
    }
  }

  /// Reads the mark of the file at `path`; nil if the file has none or cannot be read.
  package init?(of path: Path, in folder: CInt) {
    guard let mark = try? Self.read(path, in: folder) else { return nil }
    self = mark
  }

  /// Reads the mark of the file at `path`; nil if the file has none.
  ///
  /// - Throws: the error of the system.
  package static func read(_ path: Path, in folder: CInt) throws(Errno) -> ThumbnailMark? {
    ThumbnailMark(head: try readBeginning(of: path, in: folder, limit: headSize)[...])
  }

  /// Reads the mark of a file from its first ``headSize`` bytes, or from all if it has fewer; nil if it has no mark.
  package init?(head: ArraySlice<UInt8>) {
    guard let (carrier, start) = CommentCarriers.find(in: head),
      let comment = carrier.comment(at: head.dropFirst(start))
    else { return nil }
    self.init(comment: comment.text)
  }

  private init?(comment text: ArraySlice<UInt8>) {
    guard text.starts(with: Self.prefix) else { return nil }
    self.init(digits: text.dropFirst(Self.prefix.count))
  }

  private init?(digits: ArraySlice<UInt8>) {
    guard let settings = Fingerprint(digits: digits.prefix(Fingerprint.length)) else { return nil }
    var rest = digits.dropFirst(Fingerprint.length)
    var contents: SourceContents?
    if rest.first == UInt8(ascii: "=") {
      contents = SourceContents(digits: rest.dropFirst().prefix(SourceContents.length))
      if contents == nil { return nil }
      rest = rest.dropFirst(1 + SourceContents.length)
    }
    let source = rest.first == UInt8(ascii: " ") ? SourceKey(digits: rest.dropFirst()) : nil
    // A comment that merely begins like a mark belongs to a photo.
    if source == nil && !rest.isEmpty { return nil }
    self.init(settings, contents, source)
  }

  /// The description of the source that follows the mark; nil if there is none, or the head has no mark.
  ///
  /// - Parameter head: the first bytes of a thumbnail, ``headSize`` and ``DescriptionComment/longest`` more.
  package static func description(head: ArraySlice<UInt8>) -> DescriptionComment? {
    guard let (carrier, start, size) = place(in: head),
      let comment = carrier.comment(at: head.dropFirst(start + size))
    else { return nil }
    return DescriptionComment(text: comment.text)
  }
}
