import Files
import Marks
import Thumbnails

/// What a pattern for the names of thumbnails can tell of a photo beside its path in the tree. It is known before its thumbnails
/// have a place.
package struct NameFacts: Sendable, Hashable {
  /// Which facts a pattern has letters for.
  package struct Kinds: OptionSet, Sendable, Hashable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    package static let date = Kinds(rawValue: 1)
    package static let contents = Kinds(rawValue: 2)
    package static let pixels = Kinds(rawValue: 4)
    package static let uri = Kinds(rawValue: 8)

    /// Whether the photo has to be read for them.
    package var areInPhoto: Bool { !isDisjoint(with: [.date, .contents, .pixels]) }
  }

  /// When the photo was taken; nil if it does not say.
  package private(set) var taken: CaptureDate?
  /// What identifies its contents in marks; nil if it cannot be read.
  package private(set) var contents: SourceContents?
  /// Its size as displayed; nil if its header cannot be read.
  package private(set) var pixels: PixelSize?
  /// The URI of its file.
  package private(set) var uri: FileURI?

  /// Knows nothing.
  package init() {}

  /// Finds out what is asked for: from the path, the header, or the first and last bytes.
  ///
  /// - Parameter source: a file; of a source from the network, nothing is known before it is fetched.
  package init(of source: Source, _ kinds: Kinds) {
    guard source.isLocal else { return }
    if kinds.contains(.uri) { uri = FileURI(of: source.path) }
    guard kinds.areInPhoto, let file = try? SourceFile(source.path) else { return }
    if !kinds.isDisjoint(with: [.date, .pixels]), case .image(let type)? = try? file.content(of: source) {
      if kinds.contains(.date) { taken = file.facts(type).taken }
      if kinds.contains(.pixels) { pixels = try? file.shape(type).pixels }
    }
    if kinds.contains(.contents) { contents = try? file.contents() }
  }
}
