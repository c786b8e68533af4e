import Foundation

/// The bytes of a file, read at any offset. The file is not mapped into memory: if it shrinks during reading, it ends
/// early instead of raising SIGBUS, and only a window of it is in memory.
public final class ByteReader {
  /// Reads up to the buffer's size from a byte offset. Returns the number of bytes read, 0 at the end, or the error
  /// number.
  public typealias Read = (_ offset: UInt64, _ buffer: UnsafeMutableRawBufferPointer) -> Result<Int, ReadError>

  /// A value of `errno`.
  public struct ReadError: Error, Sendable, Hashable {
    public let rawValue: Int32

    public init(rawValue: Int32) { self.rawValue = rawValue }
  }

  /// The size in bytes, if known. Progress needs it, and so does looking for the EOI marker without reading the whole
  /// file.
  public let size: Int?
  private let body: Read

  /// Bytes that `read` supplies.
  public init(size: Int?, read: @escaping Read) {
    self.size = size
    body = read
  }

  /// A regular file, open for reading. The caller owns the descriptor and keeps it open while the reader is used; its
  /// file position does not change.
  public convenience init(fileDescriptor: Int32) {
    var status = stat()
    let known = fstat(fileDescriptor, &status) == 0
    self.init(fileDescriptor: fileDescriptor, size: known ? Int(status.st_size) : nil)
  }

  /// The same for a caller who knows the size of the file.
  public convenience init(fileDescriptor: Int32, size: Int?) {
    self.init(size: size) { offset, buffer in
      guard let position = off_t(exactly: offset) else { return .success(0) }
      // `Files` has such a loop too, but this library depends on no other Swift library of the package.
      while true {
        let count = pread(fileDescriptor, buffer.baseAddress, buffer.count, position)
        if count >= 0 { return .success(count) }
        if errno != EINTR { return .failure(ReadError(rawValue: errno)) }
      }
    }
  }

  /// Bytes in memory.
  public convenience init(bytes: [UInt8]) {
    self.init(size: bytes.count) { offset, buffer in
      guard offset < UInt64(bytes.count) else { return .success(0) }
      let run = bytes[Int(offset)...].prefix(buffer.count)
      buffer.copyBytes(from: run)
      return .success(run.count)
    }
  }

  /// A part of another reader's bytes, which must outlive this one.
  package convenience init(part offset: UInt64, size: Int, of whole: ByteReader) {
    self.init(size: size) { start, buffer in
      guard start < UInt64(size) else { return .success(0) }
      let count = min(buffer.count, size - Int(start))
      return whole.read(at: offset + start, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
    }
  }

  /// The bytes of another reader. Reading fails with `ECANCELED` once `proceed` returns false.
  package convenience init(_ whole: ByteReader, while proceed: @escaping () -> Bool) {
    self.init(size: whole.size) { offset, buffer in
      proceed() ? whole.read(at: offset, into: buffer) : .failure(ReadError(rawValue: ECANCELED))
    }
  }

  /// Reads bytes at an offset, at most the buffer's size. A count below that does not mean the end; 0 does.
  public func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Result<Int, ReadError> {
    body(offset, buffer)
  }
}
