import Files
import Thumbnails

/// A set that is written as words: `icc, exif`.
package protocol WordSet: OptionSet, Sendable, SendableMetatype {
  /// The words for each member.
  static var words: KeyValuePairs<String, Self> { get }
}

extension WordSet where Element == Self {
  /// Reads words. Each text may contain several, separated by commas.
  ///
  /// - Parameter subject: the option or key that the error names.
  /// - Throws: ``TextError``.
  package init(words: [String], for subject: String) throws(TextError) {
    self = []
    for word in words.flatMap({ $0.split(separator: ",") }) {
      guard let kind = Self.words.first(where: { $0.key == word }) else {
        throw TextError(
          "\(subject): “\(printableText(of: Array(word.utf8)))” is not one of "
            + Self.words.map(\.key).joined(separator: ", "))
      }
      insert(kind.value)
    }
  }
}

extension KeptMetadata: WordSet {
  package static let words: KeyValuePairs<String, KeptMetadata> = [
    "icc": .icc, "exif": .exif, "gps": .gps, "copyright": .copyright,
  ]
}

/// What a manifest tells of each source only if it is asked.
package struct ManifestFields: WordSet, Equatable {
  package let rawValue: Int

  package init(rawValue: Int) { self.rawValue = rawValue }

  /// The model of the camera.
  package static let camera = ManifestFields(rawValue: 1)
  /// The modification time, which differs between copies of one file.
  package static let modified = ManifestFields(rawValue: 2)
  /// The SHA-256 digest of all bytes.
  package static let sha256 = ManifestFields(rawValue: 4)
  /// What the attributes of an image on a web page need.
  package static let srcset = ManifestFields(rawValue: 8)

  package static let words: KeyValuePairs<String, ManifestFields> = [
    "camera": .camera, "modified": .modified, "sha256": .sha256, "srcset": .srcset,
  ]
}
