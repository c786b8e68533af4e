import BoundedQueue
import Files
import Foundation
import Marks
import PictureMaking
import Sourcing
import Thumbnails

/// Reads a file before its operation does, so that this finds it in the memory of the system. It reads as much as the results
/// need.
///
/// It holds a buffer of 256 KiB. What it has read belongs to the system, which drops it when it needs the memory.
final class ReadOperation: SupplyOperation, @unchecked Sendable {  // constant
  private let source: Source
  private let options: [ThumbnailOptions]
  private let most: Int
  private let count: @Sendable (_ bytes: Int) -> Void

  /// The most bytes of one call.
  private static let piece = 256 << 10

  /// - Parameters:
  ///   - options: of all outputs; empty if the results need the whole file.
  ///   - most: the most bytes to read.
  ///   - count: receives the bytes that were read, at the end.
  init(
    _ source: Source, _ options: [ThumbnailOptions], most: Int, on queue: BoundedOperationQueue,
    count: @escaping @Sendable (_ bytes: Int) -> Void
  ) {
    (self.source, self.options, self.most, self.count) = (source, options, most, count)
    let (kind, path) = (SourceWork.read.rawValue, source.path.printable)
    super.init(on: queue, title: "\(kind) \(path)", kind: kind, subject: path)
  }

  override func renewed(whole: Bool) -> SupplyOperation {
    ReadOperation(source, options, most: most, on: queue, count: count)
  }

  /// - Returns: nil: the operation on the source opens the file itself. If that fails, it says why.
  override func makeResult() throws -> FetchedSource? {
    guard let file = try? SourceFile(source.path) else { return nil }
    // The system then reads further ahead.
    posix_fadvise(file.descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
    var reading = Reading(file, most: most)
    defer { count(reading.count) }
    try read(file, &reading)
    return nil
  }

  private func read(_ file: SourceFile, _ reading: inout Reading) throws {
    let isNamedLikeParts = source.relativePath.isNamedLikeParts
    var needed = NeededBytes(
      of: file.descriptor, options, extent: .exact, isNamedLikeParts: isNamedLikeParts)
    var position = 0
    while position < file.size {
      let size = position == 0 && isNamedLikeParts ? NeededBytes.beginning : Self.piece
      guard try read(position..<min(position + size, file.size), &reading) else { return }
      position = min(position + size, file.size)
      switch needed.verdict(having: position, of: file.size) {
      case .goOn: break
      case .all:
        _ = try read(position..<file.size, &reading)
        return
      // Of a file that is no picture, the head is all that is read.
      case .enough:
        if needed.end != nil { try readEnd(file, &reading) }
        return
      case .parts(var missing):
        while !missing.isEmpty {
          for range in missing.ranges where try !read(range, &reading) { return }
          guard let more = needed.missing(having: reading.held, of: file.size) else {
            _ = try read(position..<file.size, &reading)
            return
          }
          missing = more
        }
        return try readEnd(file, &reading)
      }
    }
  }

  /// Reads the end of a file: contents are recognised by their beginning and end.
  private func readEnd(_ file: SourceFile, _ reading: inout Reading) throws {
    _ = try read(max(0, file.size - SourceContents.endSize)..<file.size, &reading)
  }

  /// - Returns: false at the end, after an error, or after `most` bytes.
  private func read(_ range: Range<Int>, _ reading: inout Reading) throws -> Bool {
    var position = range.lowerBound
    while position < range.upperBound {
      try checkCancelled()
      let count = reading.read(position..<min(position + Self.piece, range.upperBound))
      if count == 0 { return false }
      position += count
      reportProgress(Double(position) / Double(max(1, range.upperBound)))
    }
    return true
  }

  /// What was read of a file.
  private struct Reading {
    private let file: SourceFile
    private let most: Int
    private var buffer = [UInt8](repeating: 0, count: ReadOperation.piece)
    private(set) var held = RangeSet<Int>()
    private(set) var count = 0

    init(_ file: SourceFile, most: Int) { (self.file, self.most) = (file, most) }

    /// - Parameter range: at most a piece.
    /// - Returns: how many bytes were read; 0 at the end, after an error, or after `most` bytes.
    mutating func read(_ range: Range<Int>) -> Int {
      let wanted = min(range.count, most - count)
      guard wanted > 0 else { return 0 }
      let (descriptor, offset) = (file.descriptor, off_t(range.lowerBound))
      let got = buffer.withUnsafeMutableBytes { buffer in
        retryOnInterrupt { pread(descriptor, buffer.baseAddress, wanted, offset) }
      }
      guard got > 0 else { return 0 }
      held.insert(contentsOf: range.lowerBound..<range.lowerBound + got)
      count += got
      return got
    }
  }
}
