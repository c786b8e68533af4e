import Thumbnails

extension PictureHeader {
  /// Takes the TIFF structure with the EXIF tags, which say how the picture must be turned.
  ///
  /// - Throws: ``ThumbnailError`` if it cannot be read.
  mutating func take(exif extent: FileExtent, _ window: FileWindow) throws(ThumbnailError) {
    exif = extent
    orientation = try window.bytes(at: extent.offset, count: Int(extent.size)).withUnsafeBufferPointer {
      ExifOrientation.read($0)
    }
  }
}

extension FileWindow {
  /// The TIFF structure in a block of EXIF tags. Some programs put JPEG's "Exif\0\0" before it.
  ///
  /// - Throws: ``ThumbnailError`` if the block cannot be read.
  func structure(in block: FileExtent) throws(ThumbnailError) -> FileExtent {
    let head = try bytes(at: block.offset, atMost: Int(min(6, block.size)))
    guard head.count == 6, [Array("Exif".utf8), Array("EXIF".utf8)].contains(Array(head[..<4])) else { return block }
    return FileExtent(offset: block.offset + 6, size: block.size - 6)
  }
}
