import Files
import Foundation
import Places
import Thumbnails

/// A source in a manifest. docs/manifest.md describes the fields.
struct ManifestEntry: Encodable {
  let source: JSONPath
  let bytes: Int?
  let modified: Double?
  let taken: String?
  var width: Int?
  var height: Int?
  var orientation: Int?
  var color: String?
  var thumbhash: String?
  var thumbnails: [ThumbnailFields]?
  var outcome: String?
  var error: String?

  /// - Parameter folder: the folder of the manifest, from which its paths lead: absolute, without links.
  init(_ entry: SourceEntry, from folder: Path) {
    source = JSONPath(entry.source.path.leading(from: folder))
    bytes = entry.bytes
    modified = entry.modified.map { Double($0.tv_sec) + Double($0.tv_nsec) / 1e9 }
    taken = entry.facts.taken?.description
    switch entry.result {
    case .pictures(let description, let pictures):
      (width, height) = (description?.pixels.width, description?.pixels.height)
      orientation = description?.orientation.rawValue
      color = description?.placeholder.meanColor.description
      thumbhash = description?.placeholder.thumbHashText
      thumbnails = pictures.map { ThumbnailFields($0.thumbnail, path: $0.thumbnail.path.leading(from: folder)) }
    case .missing(let outcome, let reason): (self.outcome, error) = (outcome, reason)
    }
  }
}
