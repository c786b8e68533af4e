import Files
import Foundation
import Pictures
import Sourcing
import Thumbnails

/// What a split has to know of a file: how expensive it is, or that it is no source at all. It is read with two small reads
/// if the header lies within the first 4 KiB, as in most files.
enum SourceHeader: Equatable {
  /// A source, and whether its cost is estimated without its pixels.
  case source(SourceCost, hasPixels: Bool, bytes: Int)
  /// Not an image, and not expected to be one.
  case notImage
  /// A thumbnail that thumbjob has made.
  case thumbnail

  private static let windowSize = 4096

  /// A file that cannot be opened or read remains a source, because the run reports it.
  init(of source: Source) {
    guard let file = try? openToRead(source.path) else {
      self = .source(SourceCost(bytes: 0, pixels: 0), hasPixels: false, bytes: 0)
      return
    }
    defer { close(file) }
    var status = stat()
    let bytes = fstat(file, &status) == 0 && status.kind == .regular ? Int(status.st_size) : 0
    guard let head = try? readAll(Self.windowSize, from: file, at: 0) else {
      self = .source(SourceCost(bytes: bytes, pixels: 0), hasPixels: false, bytes: bytes)
      return
    }
    switch SourceFile.content(head, of: source) {
    case .other: self = .notImage
    case .thumbnail: self = .thumbnail
    case .image(.jpeg):
      // Nil also where the header is damaged.
      let pixels = try? PictureReader.readPixels(ofJPEG: ByteReader(fileDescriptor: file, size: bytes))
      self = .source(SourceCost(bytes: bytes, pixels: pixels?.count ?? 0), hasPixels: pixels != nil, bytes: bytes)
    case .image(let type) where type.isReadable:
      let reader = ByteReader(fileDescriptor: file, size: bytes)
      let header = try? PictureReader.readHeader(of: reader, type: type)
      self = .source(Self.cost(header, type, bytes: bytes), hasPixels: header != nil, bytes: bytes)
    case .image, .notAnImage:
      self = .source(SourceCost(bytes: bytes, pixels: 0), hasPixels: false, bytes: bytes)
    }
  }

  /// The cost of a picture in another format than JPEG. Mostly only a preview of a RAW file is decoded, which is a JPEG.
  ///
  /// - Parameter header: nil if it cannot be read. The run then fails the source.
  private static func cost(_ header: PictureHeader?, _ type: ImageType, bytes: Int) -> SourceCost {
    guard let header, !header.type.isRaw else { return SourceCost(bytes: 0, pixels: header?.pixels.count ?? 0) }
    return SourceCost(header.type, pixels: header.pixels.count)
  }
}
