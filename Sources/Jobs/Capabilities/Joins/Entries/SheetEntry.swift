import ContactSheet
import Files
import Foundation
import Marks
import Places
import Sourcing
import Thumbnails

/// The place of a source on a contact sheet.
struct SheetEntry {
  enum Content: Equatable {
    case thumbnail(Path)
    case missing(reason: String)
  }

  /// The name of the file, as people may read it, and the day on which it was taken if that is known.
  let caption: String
  /// The folder that the thumbnail mirrors; empty for the folder of the whole tree.
  let folder: Path
  let content: Content

  private init(_ source: Source, _ taken: CaptureDate?, _ content: Content) {
    let name = source.path.lastName.jsonText.text
    caption = taken.map { "\(name) · \($0.dayText)" } ?? name
    (folder, self.content) = (source.relativePath.parent, content)
  }

  /// Nil if the source gets no place: its format is not supported, or it is no photo.
  init?(_ entry: SourceEntry) {
    switch entry.result {
    case .pictures(_, let pictures):
      self.init(entry.source, entry.facts.taken, Self.shown(pictures.map(\.thumbnail).filter { $0.format == .jpeg }))
    case .missing(let outcome, let reason):
      guard outcome != "not-read", Self.isPhoto(entry.source) else { return nil }
      self.init(entry.source, entry.facts.taken, .missing(reason: outcome == "cancelled" ? outcome : reason))
    }
  }

  /// The most pixels of a side that a small print needs.
  private static let sharp = 200

  /// The smallest thumbnail that is sharp enough, otherwise the largest.
  private static func shown(_ thumbnails: [MadeThumbnail]) -> Content {
    let sorted = thumbnails.sorted { $0.pixels.count < $1.pixels.count }
    let shown = sorted.first { max($0.pixels.width, $0.pixels.height) >= sharp } ?? sorted.last
    return shown.map { .thumbnail($0.path) } ?? .missing(reason: "no thumbnail")
  }

  /// Whether a source without thumbnails is a photo, or a file that is named like one. A file with another name is a
  /// photo if its contents are. Thumbnails beside the photos are none.
  private static func isPhoto(_ source: Source) -> Bool {
    if source.address != nil { return true }
    return source.relativePath.hasPictureName
      ? ThumbnailMark(of: source.path, in: AT_FDCWD) == nil : SourceFile.isPicture(source.path)
  }

  var cell: SheetCell {
    switch content {
    case .missing(let reason): SheetCell(caption: caption, picture: .missing(reason: reason))
    case .thumbnail(let path):
      SheetCell(caption: caption, picture: .jpeg { () throws(Errno) in try openToRead(path, flags: O_NOFOLLOW) })
    }
  }
}

/// How an entry is stored: its three fields with a zero byte after the first two, which no name has. The first byte of
/// the third tells what follows.
extension SheetEntry {
  private static let (picture, reason) = (UInt8(ascii: "+"), UInt8(ascii: "-"))

  var bytes: [UInt8] {
    let begin = Array(caption.utf8) + [0] + folder.bytes + [0]
    return switch content {
    case .thumbnail(let path): begin + [Self.picture] + path.bytes
    case .missing(let text): begin + [Self.reason] + text.utf8
    }
  }

  init(stored bytes: [UInt8]) {
    let fields = bytes.split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
    guard fields.count == 3, let kind = fields[2].first, let folder = Path(bytes: fields[1]) else {
      preconditionFailure("no entry of a contact sheet")
    }
    (caption, self.folder) = (String(decoding: fields[0], as: UTF8.self), folder)
    let rest = fields[2].dropFirst()
    switch kind {
    case Self.picture:
      guard let path = Path(bytes: rest) else { preconditionFailure("no path of a thumbnail") }
      content = .thumbnail(path)
    default: content = .missing(reason: String(decoding: rest, as: UTF8.self))
    }
  }
}
