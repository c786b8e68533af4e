import Thumbnails

/// Reads a file from its beginning on, in blocks, for parsers that must see all of it.
struct ForwardReader {
  private let window: FileWindow
  private var block: [UInt8] = []
  private var next = 0
  private var blockEnd: UInt64 = 0

  private static let blockSize = 4096

  init(_ window: FileWindow) { self.window = window }

  /// Where the next byte is in the file.
  var offset: UInt64 { blockEnd - UInt64(block.count - next) }

  /// The next byte.
  ///
  /// - throws: `ThumbnailError.truncated` at the end of the file, and `unreadable`.
  mutating func byte() throws(ThumbnailError) -> UInt8 {
    if next == block.count {
      block = try window.bytes(at: blockEnd, atMost: Self.blockSize)
      next = 0
      blockEnd += UInt64(block.count)
      guard !block.isEmpty else { throw FileWindow.endsTooEarly }
    }
    defer { next += 1 }
    return block[next]
  }

  /// The next bytes.
  mutating func bytes(_ count: Int) throws(ThumbnailError) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    while bytes.count < count { bytes.append(try byte()) }
    return bytes
  }

  /// Passes over bytes, at most as many as the file has.
  mutating func skip(_ count: Int) {
    if count <= block.count - next {
      next += count
      return
    }
    blockEnd = min(window.size, offset + UInt64(count))
    block = []
    next = 0
  }
}
