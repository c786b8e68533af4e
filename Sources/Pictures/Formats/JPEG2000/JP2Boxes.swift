import Thumbnails

/// The boxes around a codestream, as far as they matter here.
struct JP2Boxes {
  private(set) var codestream = FileExtent(offset: 0, size: 0)
  private(set) var codestreams = 0
  /// The contents of boxes.
  private(set) var palette: FileExtent?
  private(set) var mapping: FileExtent?
  private(set) var definitions: FileExtent?
  private(set) var colors: [FileExtent] = []
  /// The EXIF tags.
  private(set) var exif: FileExtent?

  /// The most boxes of the file that are read. Those with metadata may come after the codestream.
  private static let mostBoxes = 1000
  private static let mostColors = 16
  private static let exifName = Array("JpgTiffExif->JP2".utf8)

  init(_ reader: BoxReader) throws(ThumbnailError) {
    let start = try reader.bytes(FileExtent(offset: 0, size: min(2, reader.whole.size)), atMost: 2)
    if Array(start) == [0xFF, 0x4F] {
      (codestream, codestreams) = (reader.whole, 1)
      return
    }
    var rest = reader.whole
    for _ in 0..<Self.mostBoxes {
      let box: Box?
      do throws(ThumbnailError) {
        box = try reader.next(in: &rest)
      } catch {
        // A fault after the picture does not matter.
        if codestreams > 0 { break }
        throw error
      }
      guard let box else { break }
      try read(box, reader)
    }
    guard codestreams > 0 else { throw rest.size == 0 ? FileWindow.endsTooEarly : .damaged("it has no codestream") }
  }

  private mutating func read(_ box: Box, _ reader: BoxReader) throws(ThumbnailError) {
    switch box.type {
    case "jp2c":
      codestreams += 1
      if codestreams == 1 { codestream = box.contents }
    case "ftbl" where codestreams == 0: throw .unsupported("a codestream in fragments")
    case "jp2h": try readHeader(box.contents, reader)
    // JPX: the headers of a codestream and of a layer. Those of the first come first.
    case "jpch", "jplh": try readHeader(box.contents, reader)
    case "uuid" where exif == nil && !box.isCut: try readEXIF(box.contents, reader)
    default: break
    }
  }

  private mutating func readHeader(_ contents: FileExtent, _ reader: BoxReader, depth: Int = 0) throws(ThumbnailError) {
    var rest = contents
    while let box = try reader.next(in: &rest) {
      switch box.type {
      case "pclr" where palette == nil: palette = box.contents
      case "cmap" where mapping == nil: mapping = box.contents
      case "cdef" where definitions == nil: definitions = box.contents
      case "colr" where colors.count < Self.mostColors: colors.append(box.contents)
      case "cgrp" where depth == 0: try readHeader(box.contents, reader, depth: 1)
      default: break
      }
    }
  }

  private mutating func readEXIF(_ contents: FileExtent, _ reader: BoxReader) throws(ThumbnailError) {
    let name = UInt64(Self.exifName.count)
    guard contents.size > name + 6, contents.size <= PictureHeader.longestBlock, reader.isInFile(contents) else {
      return
    }
    let head = try reader.bytes(FileExtent(offset: contents.offset, size: name), atMost: Self.exifName.count)
    guard Array(head) == Self.exifName else { return }
    exif = FileExtent(offset: contents.offset + name, size: contents.size - name)
  }
}
