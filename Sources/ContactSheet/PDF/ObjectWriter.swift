import Files
import Foundation

/// Writes the objects of a PDF file one after the other, through a small buffer, and remembers where each begins, for
/// the cross-reference table at the end: 8 bytes for each object.
///
/// *Source*: ISO 32000-1, 7.3.10 and 7.5.
struct ObjectWriter {
  /// The size of the buffer.
  static let bufferSize = 64 << 10
  /// How each file begins.
  static let signature = Array("%PDF-1.7\n%thumbjob ".utf8)

  /// A point to which the writer can roll back.
  struct Checkpoint {
    fileprivate let position: Int
    fileprivate let count: Int
  }

  private let file: CInt
  private let lastOffset: Int
  /// Where each object begins, object 1 first; 0 if it has a number but is not written yet.
  private var offsets: [Int] = []
  /// Has the bytes after `written` that the file does not have yet. Empty between pages.
  private var buffer: [UInt8] = []
  /// How many bytes of the buffer are used.
  private var used = 0
  private var written = 0
  /// The end of what may be in the file, which is more than `written` after rolling back.
  private var highest = 0

  /// - Parameters:
  ///   - file: an empty regular file that was opened to write; the file position does not matter.
  ///   - lastOffset: where an object may begin at most. An offset in the cross-reference table has ten digits.
  init(to file: CInt, lastOffset: Int = 9_999_999_999) {
    (self.file, self.lastOffset) = (file, lastOffset)
  }

  private var position: Int { written + used }

  var checkpoint: Checkpoint { Checkpoint(position: position, count: offsets.count) }

  /// Forgets all objects that got their numbers after a checkpoint, and what was written since. An object that already
  /// had a number must be written again.
  mutating func rollBack(to checkpoint: Checkpoint) {
    written = min(written, checkpoint.position)
    used = checkpoint.position - written
    if used == 0 { buffer = [] }
    offsets.removeLast(offsets.count - checkpoint.count)
  }

  /// The number of a new object.
  mutating func reserveNumber() -> Int {
    offsets.append(0)
    return offsets.count
  }

  /// Writes an object.
  mutating func write(_ object: Int, _ value: String) throws(Errno) {
    try begin(object)
    try append(value)
    try append("\nendobj\n")
  }

  /// Writes a stream object.
  ///
  /// - Parameter dictionary: the entries besides the length.
  mutating func write(_ object: Int, _ dictionary: String = "", stream: [UInt8]) throws(Errno) {
    try begin(object)
    try append("<< \(dictionary)/Length \(stream.count) >>\nstream\n")
    try append(stream)
    try append("\nendstream\nendobj\n")
  }

  /// Writes a stream object with the contents of a file, which is never in memory as a whole.
  ///
  /// - Parameters:
  ///   - dictionary: the entries besides the length.
  ///   - size: how many bytes to copy from the beginning of the file.
  /// - Returns: whether the file could be read. If not, the caller rolls back to a checkpoint.
  mutating func write(
    _ object: Int, _ dictionary: String, copying source: CInt, size: Int
  ) throws(Errno) -> Result<Void, UnreadableFileError> {
    try begin(object)
    try append("<< \(dictionary)/Length \(size) >>\nstream\n")
    var done = 0
    while done < size {
      let room = try room(for: size - done)
      let read = buffer.withUnsafeMutableBytes { bytes in
        Result { () throws(Errno) in
          try readAll(into: UnsafeMutableRawBufferPointer(rebasing: bytes[room]), from: source, at: done)
        }
      }
      switch read {
      case .success(room.count):
        done += room.count
        used += room.count
      case .success: return .failure(.becameShorter)
      case .failure(let error): return .failure(.system(error))
      }
    }
    try append("\nendstream\nendobj\n")
    return .success(())
  }

  /// Begins an object that is written piece by piece.
  mutating func begin(_ object: Int) throws(Errno) {
    if position == 0 {
      // Four bytes above 127 tell programs for transfers that the file is not text.
      try append(Self.signature + [0xE2, 0xE3, 0xCF, 0xD3] + Array("\n".utf8))
    }
    guard position <= lastOffset else { throw .fileTooLarge }
    offsets[object - 1] = position
    try append("\(object) 0 obj\n")
  }

  mutating func append(_ text: String) throws(Errno) { try append(Array(text.utf8)) }

  private mutating func append(_ bytes: [UInt8]) throws(Errno) {
    var done = 0
    while done < bytes.count {
      let room = try room(for: bytes.count - done)
      buffer.withUnsafeMutableBytes { buffer in
        UnsafeMutableRawBufferPointer(rebasing: buffer[room]).copyBytes(from: bytes[done..<(done + room.count)])
      }
      done += room.count
      used += room.count
    }
  }

  /// The free part of the buffer, at most `count` bytes and at least one. Makes room if there is none.
  private mutating func room(for count: Int) throws(Errno) -> Range<Int> {
    if used == Self.bufferSize { try flush() }
    if buffer.isEmpty { buffer = [UInt8](repeating: 0, count: Self.bufferSize) }
    return used..<min(used + count, Self.bufferSize)
  }

  /// Writes the buffer to the file, and frees its memory.
  mutating func release() throws(Errno) {
    try flush()
    buffer = []
  }

  private mutating func flush() throws(Errno) {
    highest = max(highest, position)
    let result = buffer.withUnsafeBytes { bytes in
      Result { () throws(Errno) in try writeAll(UnsafeRawBufferPointer(rebasing: bytes[..<used]), to: file, at: written)
      }
    }
    try result.get()
    written += used
    used = 0
  }

  /// Writes the cross-reference table and the trailer, and cuts off what is left of objects that were rolled back.
  ///
  /// - Precondition: all numbered objects have been written.
  mutating func finish(catalogue: Int, information: Int) throws(Errno) {
    let start = position
    try append("xref\n0 \(offsets.count + 1)\n0000000000 65535 f \n")
    for index in offsets.indices {
      let digits = "\(offsets[index])"
      try append(String(repeating: "0", count: 10 - digits.count) + digits + " 00000 n \n")
    }
    try append("trailer\n<< /Size \(offsets.count + 1) /Root \(catalogue) 0 R /Info \(information) 0 R >>\n")
    try append("startxref\n\(start)\n%%EOF\n")
    try release()
    if highest > written, retryOnInterrupt({ ftruncate(file, off_t(written)) }) != 0 {
      throw Errno(rawValue: errno)
    }
  }
}

/// A file could not be copied into the PDF file.
enum UnreadableFileError: Error, Equatable {
  case system(Errno)
  /// It has fewer bytes than when it was opened.
  case becameShorter
}
