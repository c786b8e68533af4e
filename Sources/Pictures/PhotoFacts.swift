import Thumbnails

/// What the camera has noted of a photo in its Exif tags. Where it was taken is never read.
package struct PhotoFacts: Sendable, Hashable {
  /// When it was taken; nil if the photo does not say.
  package private(set) var taken: CaptureDate?
  /// The model of the camera, in printable characters; nil if the photo does not say.
  package private(set) var camera: String?

  package init() {}

  /// Takes what a structure of tags says, and was not known.
  fileprivate mutating func add(_ structure: TIFFStructure) throws(ThumbnailError) {
    guard let first = try structure.directory(at: structure.firstDirectory) else { return }
    if camera == nil { camera = try first.text(.model).flatMap(Self.name) }
    var directories = [first]
    if let offset = try first.integer(.exifIFD), let inner = try structure.directory(at: offset) {
      directories.insert(inner, at: 0)
    }
    // TIFF/EP has the date in the first directory.
    for directory in directories where taken == nil {
      guard let text = try directory.text(.dateTimeOriginal) else { continue }
      taken = CaptureDate(exif: text, offset: try directory.text(.offsetTimeOriginal))
    }
  }

  /// The name of a model without what makers pad it with; nil if nothing is left.
  private static func name(_ text: String) -> String? {
    let words = text.split { $0.isWhitespace || !($0.isASCII ? ("!"..."~").contains($0) : $0.isLetter) }
    return words.isEmpty ? nil : words.joined(separator: " ")
  }
}

extension PictureReader {
  /// What the camera has noted of a photo. Faulty tags are none.
  ///
  /// - Parameters:
  ///   - source: the whole file, of which at most some blocks are read.
  ///   - type: what the first bytes of the file say.
  package static func readFacts(of source: ByteReader, type: ImageType) -> PhotoFacts {
    var facts = PhotoFacts()
    guard let window = try? FileWindow(source) else { return facts }
    let file = FileBlocks(window)
    func add(_ tags: FileExtent?) {
      if let tags, let structure = try? TIFFStructure(file: file, at: tags.offset) { try? facts.add(structure) }
    }
    let whole = FileExtent(offset: 0, size: window.size)
    switch type {
    case .jpeg: add((try? JPEGHead.read(file, whole))?.exif)
    case .tiff, .nef, .cr2, .arw, .dng, .orf, .rw2, .pef: add(whole)
    case .cr3:
      let raw = try? CanonRawFile(window)
      for tags in [raw?.exif, raw?.photoTags] { add(tags) }
    case .png, .webp, .heic, .avif, .raf, .psd, .jxl, .jp2: add((try? readHeader(of: source, type: type))?.exif)
    case .gif, .raw, .bmp, .tga, .ico: break
    }
    return facts
  }
}
