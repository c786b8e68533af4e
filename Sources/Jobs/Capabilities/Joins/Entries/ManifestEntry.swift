import Files
import Foundation
import JobSettings
import Places
import Thumbnails

/// A source in a manifest. docs/manifest.md describes the fields.
struct ManifestEntry: Encodable {
  let source: JSONPath
  let bytes: Int?
  let modified: Double?
  let taken: String?
  let camera: String?
  let sha256: String?
  var width: Int?
  var height: Int?
  var orientation: Int?
  var color: String?
  var thumbhash: String?
  var thumbnails: [ThumbnailFields]?
  var srcset: [SourceSet]?
  var outcome: String?
  var error: String?

  /// - Parameters:
  ///   - folder: the folder of the manifest, from which its paths lead: absolute, without links.
  ///   - fields: what to tell besides.
  init(_ entry: SourceEntry, from folder: Path, _ fields: ManifestFields) {
    source = JSONPath(entry.source.path.leading(from: folder))
    bytes = entry.bytes
    modified =
      fields.contains(.modified) ? entry.modified.map { Double($0.tv_sec) + Double($0.tv_nsec) / 1e9 } : nil
    taken = entry.facts.taken?.description
    camera = fields.contains(.camera) ? entry.facts.camera : nil
    sha256 = entry.digest?.description
    switch entry.result {
    case .pictures(let description, let pictures):
      (width, height) = (description?.pixels.width, description?.pixels.height)
      orientation = description?.orientation.rawValue
      color = description?.placeholder.meanColor.description
      thumbhash = description?.placeholder.thumbHashText
      thumbnails = pictures.map { ThumbnailFields($0.thumbnail, path: $0.thumbnail.path.leading(from: folder)) }
      if fields.contains(.srcset) {
        srcset = SourceSet.all(of: pictures.filter { !$0.isShared }.map(\.thumbnail), from: folder)
      }
    case .missing(let outcome, let reason): (self.outcome, error) = (outcome, reason)
    }
  }
}
