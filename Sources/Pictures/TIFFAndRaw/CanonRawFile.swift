import Foundation
import Thumbnails

/// Finds the JPEGs in a Canon RAW file of version 3 (CR3), which has the boxes of an ISO base media file. The sensor data is
/// never read.
///
/// Source: Canon has published nothing. <https://github.com/lclevy/canon_cr3> describes what was found out.
public struct CanonRawFile {
  /// Parts of the file that begin as a JPEG does, the one in the first track first: that has all pixels of the picture.
  public private(set) var previews: [FileExtent] = []
  /// How all of them must be turned.
  public private(set) var orientation = Orientation.upright
  /// The TIFF structure with the EXIF tags of the first directory.
  public private(set) var exif: FileExtent?
  /// The TIFF structure with the tags of EXIF's own directory.
  private(set) var photoTags: FileExtent?
  /// The largest picture in the file, in pixels; nil if no track says a size.
  public private(set) var pixels: PixelSize?

  private let reader: BoxReader

  private static let metadata: [UInt8] = [
    0x85, 0xC0, 0xB6, 0x87, 0x82, 0x0F, 0x11, 0xE0, 0x81, 0x11, 0xF4, 0xCE, 0x46, 0x2B, 0x6A, 0x48,
  ]
  private static let preview: [UInt8] = [
    0xEA, 0xF4, 0x2B, 0x5E, 0x1C, 0x98, 0x4B, 0x88, 0xB9, 0xFB, 0xB7, 0xDC, 0x40, 0x6E, 0x4D, 0x16,
  ]
  private static let mostPreviews = 8

  /// Whether a file with these first bytes is of this kind: its major brand says so.
  public static func isCanonRaw(_ head: some Collection<UInt8>) -> Bool {
    head.dropFirst(4).prefix(8).elementsEqual("ftypcrx ".utf8)
  }

  public init(_ file: FileWindow) throws(ThumbnailError) {
    reader = BoxReader(file)
    var small: [FileExtent] = []
    var rest = reader.whole
    while let box = try reader.next(in: &rest) {
      switch box.type {
      case "moov":
        guard !box.isCut else { throw FileWindow.endsTooEarly }
        try readTracks(box.contents)
        var inner = box.contents
        while let child = try reader.next(in: &inner) {
          if let contents = try extended(child, Self.metadata) { try readMetadata(contents, &small) }
        }
      case "uuid":
        guard var contents = try extended(box, Self.preview), contents.size > 8 else { continue }
        contents = FileExtent(offset: contents.offset + 8, size: contents.size - 8)
        while let child = try reader.next(in: &contents) {
          if child.type == "PRVW" { try add(child, to: &small) }
        }
      default: break
      }
    }
    previews = Array((previews + small.reversed()).prefix(Self.mostPreviews))
  }

  /// The contents of a box of the type `uuid` with this identifier.
  private func extended(_ box: Box, _ identifier: [UInt8]) throws(ThumbnailError) -> FileExtent? {
    guard box.type == "uuid", box.contents.size >= 16 else { return nil }
    let start = FileExtent(offset: box.contents.offset, size: 16)
    guard try reader.bytes(start, atMost: 16).elementsEqual(identifier) else { return nil }
    return FileExtent(offset: box.contents.offset + 16, size: box.contents.size - 16)
  }

  private mutating func readTracks(_ movie: FileExtent) throws(ThumbnailError) {
    for track in try MovieReader(reader).tracks(in: movie) where track.codec == "CRAW" {
      if let sample = track.sample, try isJPEG(sample) { previews.append(sample) }
      if track.pixels.count > pixels?.count ?? 0 { pixels = track.pixels }
    }
  }

  private mutating func readMetadata(_ contents: FileExtent, _ small: inout [FileExtent]) throws(ThumbnailError) {
    var rest = contents
    while let box = try reader.next(in: &rest) {
      switch box.type {
      case "THMB": try add(box, to: &small)
      case "CMT1":
        guard box.contents.size <= PictureHeader.longestBlock else { continue }
        exif = box.contents
        let bytes = try reader.bytes(box.contents, atMost: PictureHeader.longestBlock)
        orientation = bytes.withUnsafeBufferPointer(ExifOrientation.read)
      case "CMT2": photoTags = box.contents
      default: break
      }
    }
  }

  /// The boxes `THMB` and `PRVW` have 16 bytes before their JPEG, in two ways, and padding after it. A JPEG's decoder passes
  /// over what follows it.
  private func add(_ box: Box, to list: inout [FileExtent]) throws(ThumbnailError) {
    guard box.contents.size > 16 else { return }
    let jpeg = FileExtent(offset: box.contents.offset + 16, size: box.contents.size - 16)
    if try isJPEG(jpeg) { list.append(jpeg) }
  }

  private func isJPEG(_ extent: FileExtent) throws(ThumbnailError) -> Bool {
    guard extent.size > 3, reader.isInFile(extent) else { return false }
    return try reader.bytes(FileExtent(offset: extent.offset, size: 3), atMost: 3).elementsEqual([0xFF, 0xD8, 0xFF])
  }
}
