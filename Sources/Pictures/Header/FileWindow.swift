import Foundation
import Thumbnails

/// Reads small parts of a file, and never outside its bounds. Parsers of headers use it: every read has a limit, so that a
/// file cannot make a parser hold much memory.
public struct FileWindow {
  private let source: ByteReader
  /// Where the part that may be read begins in the file.
  private let start: UInt64
  /// The bytes of the file, or the part of it that may be read.
  public let size: UInt64

  /// - Throws: `ThumbnailError.unreadable` if the size of the file is unknown.
  public init(_ source: ByteReader) throws(ThumbnailError) {
    guard let size = source.size else { throw .unreadable(ESPIPE) }
    (self.source, start) = (source, 0)
    self.size = UInt64(size)
  }

  private init(_ source: ByteReader, from start: UInt64, size: UInt64) {
    (self.source, self.start, self.size) = (source, start, size)
  }

  /// What follows an offset, as a file of its own.
  ///
  /// - Parameter offset: at most ``size``.
  func part(from offset: UInt64) -> FileWindow { FileWindow(source, from: start + offset, size: size - offset) }

  /// Bytes from an offset.
  ///
  /// - Throws: `ThumbnailError.truncated` if the file ends before, and `unreadable`.
  public func bytes(at offset: UInt64, count: Int) throws(ThumbnailError) -> [UInt8] {
    guard count >= 0, offset <= size, UInt64(count) <= size - offset else { throw Self.endsTooEarly }
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let taken = bytes.withUnsafeMutableBytes { buffer in
        source.read(at: start + offset + UInt64(done), into: UnsafeMutableRawBufferPointer(rebasing: buffer[done...]))
      }
      switch taken {
      case .failure(let error): throw .unreadable(error.rawValue)
      case .success(0): throw Self.endsTooEarly
      case .success(let more): done += more
      }
    }
    return bytes
  }

  /// As many bytes from an offset as there are, at most `most`.
  public func bytes(at offset: UInt64, atMost most: Int) throws(ThumbnailError) -> [UInt8] {
    guard offset < size else { return [] }
    return try bytes(at: offset, count: Int(min(UInt64(most), size - offset)))
  }

  static let endsTooEarly = ThumbnailError.truncated("the file ends too early")
}
