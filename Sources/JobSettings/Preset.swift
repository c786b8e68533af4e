import Thumbnails

/// Named settings of an output. Options and keys that stand for one of them override it.
enum Preset: String, CaseIterable {
  /// Three widths for the pages of a web site, in the formats that browsers show, under names with the width. A photo that is
  /// smaller than a width has no second thumbnail of the same size, and the extension tells photos of one name apart.
  case web
  /// A small picture for an overview, and a large one.
  case gallery
  /// A large picture of high quality with its colour profile and copyright.
  case archive

  /// The small one is sharp in the rows of a gallery, also on a screen with twice the pixels.
  static let gallerySizes = ["thumb=480", "large=1600"].map { SizeSpec.known($0) }

  func apply(to output: inout OutputSettings) {
    switch self {
    case .web:
      output.sizes = ["320x", "640x", "1280x"].map { .known($0) }
      output.usualFormats = [.avif, .webp, .jpeg]
      output.name = NamePattern.known("%d/%s-%e-%W")
      output.quality = 75
      output.progressive = true
    case .gallery:
      output.sizes = Self.gallerySizes
      output.quality = 82
    case .archive:
      output.sizes = [.known("2048")]
      output.quality = 92
      output.subsample = .s444
      output.keep = [.icc, .copyright]
    }
  }
}
