import Files
import Foundation
import Thumbnails

/// The JPEG comment that every thumbnail has. It names thumbjob and identifies the settings and the contents of the
/// source.
///
/// The mark distinguishes a thumbnail from an original, which is never overwritten, and from a thumbnail with other
/// settings. Unlike extended attributes, it stays in the file when the file is copied. It takes 63 bytes and reveals
/// nothing about the source but hashes: of its contents, and of its path (``SourceKey``).
///
/// *Source*: ITU-T T.81, B.2.4.5 (comment); JFIF 1.02, whose own segment must come first.
package struct ThumbnailMark: Sendable, Hashable {
  private static let prefix = Array("thumbjob ".utf8)
  /// The bytes of SOI, the JFIF segment and the longest mark.
  package static let headSize =
    20 + 4 + prefix.count + Fingerprint.length + 1 + SourceContents.length + 1 + SourceKey.length

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

  /// The JPEG with the mark after its JFIF segment, and after that a description of the source if there is one.
  package func inserted(into jpeg: UnsafeRawBufferPointer, followedBy description: DescriptionComment? = nil) -> [UInt8]
  {
    let end = Self.endOfJFIF(jpeg) ?? 2
    let comment = Self.prefix + digits
    let size = 2 + comment.count
    let described = description?.segment ?? []
    var marked: [UInt8] = []
    marked.reserveCapacity(jpeg.count + 2 + size + described.count)
    marked += jpeg[..<end]
    marked += JPEGMarker.com.bytes + [UInt8(size >> 8), UInt8(size & 0xFF)] + comment + described
    marked += jpeg[end...]
    return marked
  }

  /// The bytes of a thumbnail with this mark instead of its own; nil if it has none.
  package func replaced(in thumbnail: [UInt8]) -> [UInt8]? {
    guard ThumbnailMark(head: thumbnail[...]) != nil else { return nil }
    let end = 20 + 2 + (Int(thumbnail[22]) << 8 | Int(thumbnail[23]))
    let rest = thumbnail[..<20] + thumbnail[end...]
    return Array(rest).withUnsafeBytes { inserted(into: $0) }
  }

  /// A hash of what a thumbnail looks like: of all its bytes but its mark; nil if it has none.
  package static func looks(of thumbnail: [UInt8]) -> UInt64? {
    guard ThumbnailMark(head: thumbnail[...]) != nil else { return nil }
    let end = 20 + 2 + (Int(thumbnail[22]) << 8 | Int(thumbnail[23]))
    var hash = XXH64()
    thumbnail.withUnsafeBytes { bytes in
      hash.append(UnsafeRawBufferPointer(rebasing: bytes[..<20]))
      hash.append(UnsafeRawBufferPointer(rebasing: bytes[min(end, bytes.count)...]))
    }
    return hash.hash
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
    let head = Array(head.prefix(Self.headSize))
    guard head.count > 24, let end = head.withUnsafeBytes({ Self.endOfJFIF($0) }), end == 20,
      head[20...].starts(with: JPEGMarker.com.bytes), head[24...].starts(with: Self.prefix)
    else { return nil }
    let size = Int(head[22]) << 8 | Int(head[23])
    self.init(digits: head[24...].prefix(max(0, size - 2)).dropFirst(Self.prefix.count))
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
    guard ThumbnailMark(head: head) != nil else { return nil }
    let size = Int(head[head.startIndex + 22]) << 8 | Int(head[head.startIndex + 23])
    return DescriptionComment(segment: head.dropFirst(22 + size))
  }

  private static func endOfJFIF(_ jpeg: UnsafeRawBufferPointer) -> Int? {
    guard jpeg.count > 6, jpeg[2...].starts(with: JPEGMarker.app0.bytes) else { return nil }
    let end = 4 + (Int(jpeg[4]) << 8 | Int(jpeg[5]))
    return end <= jpeg.count ? end : nil
  }
}
