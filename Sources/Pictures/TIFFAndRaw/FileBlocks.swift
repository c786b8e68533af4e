import Thumbnails

/// Parts of a file that are read in blocks and kept: a parser that follows many offsets close to each other needs few reads.
///
/// A file can make a parser go to many places. So the number of blocks is limited, and with it the time and the memory.
/// What is outside the file, or not read because of the limit, is nil.
///
/// *Concurrency*: for one thread.
final class FileBlocks {
  /// The bytes of the file.
  let size: UInt64
  private let window: FileWindow
  private var blocks: [(offset: UInt64, bytes: [UInt8])] = []
  private let mostBlocks: Int

  /// The most bytes of one request.
  static let longestRequest = 96 << 10

  /// - parameter mostBlocks: the most reads.
  init(_ window: FileWindow, mostBlocks: Int = 64) {
    (self.window, self.mostBlocks) = (window, mostBlocks)
    size = window.size
  }

  /// Exactly `count` bytes at an offset.
  ///
  /// - parameter ahead: how many bytes are read if they are not there yet, because the next requests will be for these.
  /// - throws: what `FileWindow` throws if the file cannot be read.
  func bytes(at offset: UInt64, count: Int, ahead: Int = 8 << 10) throws(ThumbnailError) -> ArraySlice<UInt8>? {
    guard count >= 0, count <= Self.longestRequest, offset <= size, UInt64(count) <= size - offset else { return nil }
    for block in blocks.reversed() where block.offset <= offset && offset - block.offset <= block.bytes.count {
      let start = Int(offset - block.offset)
      if count <= block.bytes.count - start { return block.bytes[start..<start + count] }
    }
    guard blocks.count < mostBlocks else { return nil }
    let block = try window.bytes(at: offset, atMost: max(count, ahead))
    guard block.count >= count else { return nil }
    blocks.append((offset, block))
    return block[..<count]
  }

  /// The part of the file from an offset on, with at most so many bytes; nil if it would begin outside the file.
  func extent(at offset: UInt64, size count: UInt64) -> FileExtent? {
    guard offset < size, count > 0 else { return nil }
    return FileExtent(offset: offset, size: min(count, size - offset))
  }
}

/// The order of the bytes of a number.
enum ByteOrder {
  case littleEndian, bigEndian

  /// The number that these bytes make, at most eight of them.
  func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    switch self {
    case .bigEndian: bytes.reduce(0) { $0 << 8 | UInt64($1) }
    case .littleEndian: bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
  }
}
