import Thumbnails

/// Finds the large previews that cameras append to their JPEGs (Multi-Picture Format, MPF).
///
/// *Source*: CIPA DC-007, 5.2.
enum MultiPictureFile {
  /// The header of a JPEG file and, as its smaller versions, those previews in it that our decoder reads; nil if it is no
  /// JPEG that our decoder reads.
  ///
  /// Only images of the type "large thumbnail" count. Those of an undefined type are anything: phones have the gain maps of
  /// HDR pictures there, and depth, which are of the same shape.
  static func read(_ window: FileWindow) throws(ThumbnailError) -> PictureHeader? {
    let file = FileBlocks(window)
    let whole = FileExtent(offset: 0, size: file.size)
    guard let head = try JPEGHead.read(file, whole) else { return nil }
    var header = head.header(type: .jpeg, whole, orientation: head.orientation ?? .upright)
    guard let index = head.multiPictureIndex else { return header }
    for extent in try thumbnails(file, index) {
      guard let preview = try JPEGHead.read(file, extent), preview.sampling.count == head.sampling.count,
        preview.pixels.count < head.pixels.count
      else { continue }
      let orientation = preview.orientation ?? header.orientation
      header.reduced.append(preview.header(type: .jpeg, extent, orientation: orientation))
    }
    return header
  }

  /// The most images of an index that are looked at. A panorama may have dozens.
  private static let mostImages = 32
  private static let entrySize = 16

  /// The large thumbnails that an index names.
  private static func thumbnails(_ file: FileBlocks, _ index: FileExtent) throws(ThumbnailError) -> [FileExtent] {
    guard let structure = try TIFFStructure(file: file, at: index.offset),
      let directory = try structure.directory(at: structure.firstDirectory), let entries = directory.extent(.mpEntry),
      let bytes = try file.bytes(
        at: entries.offset, count: Int(min(entries.size, UInt64(mostImages * entrySize))))
    else { return [] }
    var found: [FileExtent] = []
    for start in stride(from: 0, through: bytes.count - entrySize, by: entrySize) {
      let entry = bytes.dropFirst(start)
      let attribute = structure.order.number(entry.prefix(4))
      let size = structure.order.number(entry.dropFirst(4).prefix(4))
      let offset = structure.order.number(entry.dropFirst(8).prefix(4))
      // Bits 24 to 26 are the format, 0 for JPEG, and bits 16 to 23 the type. Offsets count from the index, except that 0 is
      // the first image.
      guard attribute >> 16 & 0x7FF == 1, offset > 0, let place = structure.place(offset),
        let extent = file.extent(at: place, size: size)
      else { continue }
      found.append(extent)
    }
    return found
  }
}
