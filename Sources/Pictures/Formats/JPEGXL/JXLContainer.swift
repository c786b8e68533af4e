import Thumbnails

/// Where codestream and EXIF tags are in the file.
struct JXLContainer {
  /// The parts of the codestream, in order. They are in the file.
  private(set) var codestream: [FileExtent] = []
  /// The TIFF structure.
  private(set) var exif: FileExtent?

  /// The most boxes of the file that are read. The codestream may be cut into many.
  private static let mostBoxes = 2000
  private static let signature: [UInt8] = [0, 0, 0, 0x0C] + Array("JXL ".utf8) + [0x0D, 0x0A, 0x87, 0x0A]

  init(_ window: FileWindow) throws(ThumbnailError) {
    let head = try window.bytes(at: 0, atMost: Self.signature.count)
    if head.starts(with: [0xFF, 0x0A]) {
      codestream = [FileExtent(offset: 0, size: window.size)]
      return
    }
    guard head == Self.signature else { throw .damaged("the file does not begin as JPEG XL") }
    let boxes = BoxReader(window)
    var rest = boxes.whole
    var isWhole = false
    for _ in 0..<Self.mostBoxes {
      guard let box = try nextBox(boxes, &rest, isWhole: isWhole) else { break }
      switch box.type {
      case "jxlc" where codestream.isEmpty:
        codestream.append(box.contents)
        isWhole = true
      case "jxlp" where !isWhole:
        // A counter is before each part. Its uppermost bit marks the last one.
        let (counter, part) = try Self.split(box.contents, boxes)
        codestream.append(part)
        isWhole = counter & 0x8000_0000 != 0
      case "Exif" where exif == nil: exif = Self.structure(in: box, boxes)
      default: break
      }
    }
    guard !codestream.isEmpty else {
      throw rest.size < 8 ? .damaged("the file has no codestream") : FileWindow.endsTooEarly
    }
  }

  /// The next box of the file. Faults after the codestream do not matter, because nothing there is needed.
  private func nextBox(
    _ boxes: BoxReader, _ rest: inout FileExtent, isWhole: Bool
  ) throws(ThumbnailError) -> Box? {
    do throws(ThumbnailError) {
      return try boxes.next(in: &rest)
    } catch {
      guard isWhole, case .damaged = error else { throw error }
      return nil
    }
  }

  /// The number of four bytes with which a part of the file begins, and what follows it.
  private static func split(
    _ extent: FileExtent, _ boxes: BoxReader
  ) throws(ThumbnailError) -> (UInt32, FileExtent) {
    guard extent.size >= 4 else { throw .damaged("a box is too short") }
    let bytes = try boxes.bytes(FileExtent(offset: extent.offset, size: 4), atMost: 4)
    return (UInt32(bigEndian(bytes)), FileExtent(offset: extent.offset + 4, size: extent.size - 4))
  }

  /// The TIFF structure in a box of EXIF tags, which begins with how many bytes are before the structure.
  private static func structure(in box: Box, _ boxes: BoxReader) -> FileExtent? {
    guard !box.isCut, let (skipped, rest) = try? split(box.contents, boxes), skipped < rest.size else { return nil }
    let found = FileExtent(offset: rest.offset + UInt64(skipped), size: rest.size - UInt64(skipped))
    return found.size <= PictureHeader.longestBlock ? found : nil
  }
}
