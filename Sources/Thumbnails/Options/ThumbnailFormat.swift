/// A format in which thumbnails are written.
package enum ThumbnailFormat: String, Sendable, CaseIterable {
  case jpeg, webp, avif, png

  /// The extensions of its files, without the dot. Names get the first one.
  package var extensions: [String] {
    switch self {
    case .jpeg: ["jpg", "jpeg", "jpe", "jfif"]
    case .webp, .avif, .png: [rawValue]
    }
  }

  /// The media type, as in the header Content-Type.
  package var mediaType: String { "image/\(rawValue)" }

  /// Whether its pixels may be transparent.
  package var hasAlpha: Bool { self != .jpeg }

  /// Whether a file of it can have exactly the samples that it is made of.
  package var canBeLossless: Bool { self == .webp || self == .png }

  /// Whether its encoder can spend more time on smaller files.
  package var hasEffort: Bool { self != .jpeg }

  /// The most pixels of a side, by the format or by its encoder.
  package var longestSide: Int {
    switch self {
    case .jpeg, .png: SizeSpec.maximumSide
    // 14 bits in its header (RFC 9649, 2.7.1).
    case .webp: 16_383
    case .avif: 65_535
    }
  }
}

/// A thumbnail that is asked for: a size in a format.
package struct Rendition: Sendable, Hashable {
  package let size: SizeSpec
  package let format: ThumbnailFormat

  package init(_ size: SizeSpec, _ format: ThumbnailFormat) { (self.size, self.format) = (size, format) }
}

extension ThumbnailOptions {
  /// All thumbnails of a source: the sizes in their order, each in all formats.
  package var renditions: [Rendition] { sizes.flatMap { size in formats.map { Rendition(size, $0) } } }

  /// Whether thumbnails of transparent pictures are transparent.
  func keepsAlpha(in format: ThumbnailFormat) -> Bool { background == nil && format.hasAlpha }

  /// Whether any thumbnail of a transparent picture is transparent.
  package var keepsAlpha: Bool { formats.contains(where: keepsAlpha(in:)) }
}
