import Thumbnails

/// Reads the header of a JPEG 2000 picture: a bare codestream, or one in the boxes of JP2 or JPX.
///
/// What the boxes say of size and depth is not read, because the codestream says it too, and the decoder obeys that.
///
/// Source: ISO/IEC 15444-1, annexes A (codestream) and I (boxes); ISO/IEC 15444-2, annex M (boxes of JPX).
enum JP2Header {
  /// - throws: `ThumbnailError`: `damaged`, `truncated`, `unsupported` and `unreadable`.
  static func read(_ window: FileWindow) throws(ThumbnailError) -> PictureHeader {
    let reader = BoxReader(window)
    let boxes = try JP2Boxes(reader)
    let codestream = try JP2Codestream(boxes.codestream, reader)
    let channels = try JP2Channels(boxes, codestream.grid, reader)
    let coding = try JP2Coding(boxes, codestream, first: channels.colors[0])
    var header = PictureHeader(
      type: .jp2, pixels: coding.resolutions[0].pixels, components: try channels.meaning(in: codestream.grid),
      coding: .jp2(coding), workingBytes: codestream.heldBytes)
    header.hasAlpha = channels.alpha != nil
    header.isPremultiplied = channels.isPremultiplied
    if header.isPremultiplied, case .ycc = header.components {
      throw .unsupported("luma and chroma that are multiplied by alpha")
    }
    header.color = channels.color
    if let exif = boxes.exif { try header.take(exif: window.structure(in: exif), window) }
    if boxes.codestreams > 1 { header.remarks.append("only the first of several pictures is shown") }
    return header
  }
}

extension JP2Coding {
  fileprivate init(_ boxes: JP2Boxes, _ codestream: JP2Codestream, first: Int) throws(ThumbnailError) {
    let none = FileExtent(offset: 0, size: 0)
    let grid = codestream.grid
    for component in grid.components {
      let size = grid.size(of: component, discarding: 0)
      guard size.width > 0, size.height > 0 else { throw .damaged("a component has no samples") }
      guard max(size.width, size.height) <= PictureHeader.largestSide else {
        throw .unsupported("a picture of \(size)")
      }
    }
    // Means of a palette's indices are no colours.
    var most = boxes.palette == nil ? codestream.levels : 0
    // A component may begin where no sample of a coarse level is.
    while most > 0, grid.components.contains(where: { grid.size(of: $0, discarding: most).count == 0 }) { most -= 1 }
    let memory = JP2Memory(grid: grid, style: codestream.style)
    self.init(
      extents: [boxes.codestream, boxes.palette ?? none, boxes.mapping ?? none, boxes.definitions ?? none],
      resolutions: (0...most).map { levels in
        Resolution(
          pixels: grid.size(of: grid.components[first], discarding: levels), bytes: memory.bytes(discarding: levels))
      })
  }
}
