import Thumbnails

/// A box of an ISO base media file, without its contents.
struct Box {
  let type: FourCC
  /// What follows the header.
  let contents: FileExtent
  /// Whether the file ends before the box does; the contents are what there is of it.
  let isCut: Bool
}

/// Reads the boxes of an ISO base media file. The number of boxes that it reads is bounded, so that a file cannot waste
/// time.
///
/// Source: ISO/IEC 14496-12, 4.2.
final class BoxReader {
  private let file: FileWindow
  /// A part of the file. Boxes are small and next to each other, so that one read serves many.
  private var buffer: [UInt8] = []
  private var bufferStart: UInt64 = 0
  private var boxesLeft = 20_000

  private static let bufferSize = 16 << 10

  init(_ file: FileWindow) { self.file = file }

  /// All of the file.
  var whole: FileExtent { FileExtent(offset: 0, size: file.size) }

  /// The box with which `rest` begins, which is then without it; nil if `rest` is too short for a box.
  func next(in rest: inout FileExtent) throws(ThumbnailError) -> Box? {
    guard rest.size >= 8 else { return nil }
    guard boxesLeft > 0 else { throw .damaged("its header has too many parts") }
    boxesLeft -= 1
    var fields = try fields(FileExtent(offset: rest.offset, size: min(rest.size, 16)), atMost: 16)
    var size = UInt64(try fields.u32())
    let type = try fields.fourCC()
    var headerSize: UInt64 = 8
    if size == 1 {
      size = try fields.number(8)
      headerSize = 16
    } else if size == 0 {
      size = rest.size
    }
    guard size >= headerSize else { throw .damaged("the box “\(type)” gives an impossible size") }
    let isCut = size > rest.size
    // Only boxes of the file itself can be cut off; others leave their parent.
    guard !isCut || rest.offset + rest.size == file.size else {
      throw .damaged("the box “\(type)” is larger than the one around it")
    }
    size = min(size, rest.size)
    let contents = FileExtent(offset: rest.offset + headerSize, size: size - headerSize)
    rest = FileExtent(offset: rest.offset + size, size: rest.size - size)
    return Box(type: type, contents: contents, isCut: isCut)
  }

  /// The fields in a part of the file.
  ///
  /// - parameter limit: more bytes than that count as damage.
  func fields(_ extent: FileExtent, atMost limit: Int) throws(ThumbnailError) -> BoxFields {
    BoxFields(try bytes(extent, atMost: limit))
  }

  /// The bytes of a part of the file.
  func bytes(_ extent: FileExtent, atMost limit: Int) throws(ThumbnailError) -> ArraySlice<UInt8> {
    guard extent.size <= limit else { throw .damaged("a part of \(extent.size) bytes, where \(limit) are the most") }
    guard isInFile(extent) else { throw FileWindow.endsTooEarly }
    let count = Int(extent.size)
    if count > Self.bufferSize { return try file.bytes(at: extent.offset, count: count)[...] }
    if extent.offset < bufferStart || extent.offset - bufferStart + extent.size > buffer.count {
      buffer = try file.bytes(at: extent.offset, atMost: Self.bufferSize)
      bufferStart = extent.offset
    }
    let start = Int(extent.offset - bufferStart)
    guard start + count <= buffer.count else { throw FileWindow.endsTooEarly }
    return buffer[start..<start + count]
  }

  /// Whether all of a part is in the file.
  func isInFile(_ extent: FileExtent) -> Bool {
    extent.offset <= file.size && extent.size <= file.size - extent.offset
  }
}
