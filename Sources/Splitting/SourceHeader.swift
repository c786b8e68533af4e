import Files
import Foundation
import Pictures
import Sourcing
import SystemPackage
import Thumbnails

/// What a split has to know of a file: how expensive it is, or that it is no source at all. It is read with one small read
/// if the header lies within the first 4 KiB, as in most files.
enum SourceHeader: Equatable {
  /// A source, and whether its cost is estimated without its pixels.
  case source(SourceCost, hasPixels: Bool, bytes: Int)
  /// Not an image, and not expected to be one.
  case notImage
  /// A thumbnail that thumbjob has made.
  case thumbnail

  private static let windowSize = 4096
  /// More segments than this exist only to waste time.
  private static let segmentLimit = 1000

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
      let pixels = Self.pixels(in: head, of: file)
      self = .source(SourceCost(bytes: bytes, pixels: pixels ?? 0), hasPixels: pixels != nil, bytes: bytes)
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

  /// The pixels in the frame header of a JPEG file; nil if it has none, or is damaged before it.
  ///
  /// *Source*: ITU-T T.81, B.1 and B.2.
  private static func pixels(in head: [UInt8], of file: CInt) -> Int? {
    var (window, start) = (head, 0)  // the bytes read last, and their offset in the file
    var offset = 2
    for _ in 0..<segmentLimit {
      // A marker, a segment's length, and the beginning of a frame header.
      if offset + 9 > start + window.count {
        guard window.count > 0, let more = try? readAll(windowSize, from: file, at: offset) else { return nil }
        (window, start) = (more, offset)
      }
      let bytes = window.dropFirst(offset - start).prefix(9).map(Int.init)
      guard bytes.count >= 4, bytes[0] == 0xFF else { return nil }
      let length = bytes[2] << 8 | bytes[3]
      switch bytes[1] {
      case 0xFF:
        // A fill byte.
        offset += 1
        continue
      case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
        guard bytes.count == 9 else { return nil }
        return (bytes[5] << 8 | bytes[6]) * (bytes[7] << 8 | bytes[8])
      case 0x00...0x01, 0xD0...0xDA: return nil
      default: break
      }
      guard length >= 2 else { return nil }
      offset += 2 + length
    }
    return nil
  }
}
