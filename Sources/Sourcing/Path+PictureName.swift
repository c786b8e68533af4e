import Files
import Thumbnails

extension Path {
  /// The path itself if it has the name of a file of this format, otherwise with the format's extension appended.
  package func named(as format: ThumbnailFormat) -> Path {
    hasName(of: format) ? self : Path(bytes: Array(bytes) + Self.endings(of: format)[0])!
  }

  /// Whether the name ends in an extension of this format, in any case, after at least one character.
  package func hasName(of format: ThumbnailFormat) -> Bool {
    Self.endings(of: format).contains { hasEnding($0, inAnyCase: true) }
  }

  /// Whether the name is that of a thumbnail of any format.
  package var isNamedLikeThumbnail: Bool { ThumbnailFormat.allCases.contains(where: hasName(of:)) }

  /// The path without the usual extension of this format; nil if it has another one.
  package func without(_ format: ThumbnailFormat) -> Path? { without(ending: Self.endings(of: format)[0]) }

  private static func endings(of format: ThumbnailFormat) -> [[UInt8]] {
    format.extensions.map { Array(".\($0)".utf8) }
  }

  /// Whether the name ends in `.jpg`, `.jpeg`, `.jpe` or `.jfif`, in any case, after at least one character.
  package var hasJPEGName: Bool { hasName(of: .jpeg) }

  /// Whether the name is that of a picture of a format that can be read, in any case.
  package var hasPictureName: Bool { hasJPEGName || Self.otherEndings.contains { hasEnding($0, inAnyCase: true) } }

  /// Whether most of a file with such a name is probably not needed: RAW files, and the pictures of phones, have smaller
  /// versions of the picture in them.
  package var isNamedLikeParts: Bool { Self.endingsOfParts.contains { hasEnding($0, inAnyCase: true) } }

  private static let otherEndings = PictureNames.others.map { Array(".\($0)".utf8) }
  private static let endingsOfParts = PictureNames.withParts.map { Array(".\($0)".utf8) }
}

/// The usual extensions of pictures. A file is recognised by its content: its name only decides whether a file that is no
/// picture is a fault.
package enum PictureNames {
  package static let jpeg = ThumbnailFormat.jpeg.extensions
  package static let others = [
    "png", "gif", "webp", "tif", "tiff", "heic", "heif", "avif", "nef", "cr2", "cr3", "arw", "dng", "orf", "rw2", "pef",
    "raf", "bmp", "dib", "ico", "tga", "jxl", "jp2", "j2k", "jpf", "jpx", "psd", "psb",
  ]
  static let withParts = ["nef", "cr2", "cr3", "arw", "dng", "orf", "rw2", "pef", "raf", "heic", "heif"]
}
