import Files

extension Path {
  /// The path itself if it has the name of a JPEG file, otherwise with `.jpg` appended.
  package var asJPEG: Path { hasJPEGName ? self : Path(bytes: Array(bytes) + ".jpg".utf8)! }

  /// Whether the name ends in `.jpg`, `.jpeg`, `.jpe` or `.jfif`, in any case, after at least one character.
  package var hasJPEGName: Bool { Self.jpegEndings.contains { hasEnding($0, inAnyCase: true) } }

  /// Whether the name is that of a picture of a format that can be read, in any case.
  package var hasPictureName: Bool { hasJPEGName || Self.otherEndings.contains { hasEnding($0, inAnyCase: true) } }

  /// Whether most of a file with such a name is probably not needed: RAW files, and the pictures of phones, have smaller
  /// versions of the picture in them.
  package var isNamedLikeParts: Bool { Self.endingsOfParts.contains { hasEnding($0, inAnyCase: true) } }

  private static let jpegEndings = PictureNames.jpeg.map { Array(".\($0)".utf8) }
  private static let otherEndings = PictureNames.others.map { Array(".\($0)".utf8) }
  private static let endingsOfParts = PictureNames.withParts.map { Array(".\($0)".utf8) }
}

/// The usual extensions of pictures. A file is recognised by its content: its name only decides whether a file that is no
/// picture is a fault.
package enum PictureNames {
  package static let jpeg = ["jpg", "jpeg", "jpe", "jfif"]
  package static let others = [
    "png", "gif", "webp", "tif", "tiff", "heic", "heif", "avif", "nef", "cr2", "cr3", "arw", "dng", "orf", "rw2", "pef",
    "raf",
  ]
  static let withParts = ["nef", "cr2", "cr3", "arw", "dng", "orf", "rw2", "pef", "raf", "heic", "heif"]
}
