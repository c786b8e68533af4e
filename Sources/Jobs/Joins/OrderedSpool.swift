import Files
import Foundation
import Locking

/// Texts that are stored in any order and read back in the order of their numbers. They are in two files without a name, so
/// they take no memory however many there are, and nothing remains of them after the process.
///
/// *Concurrency*: ``store(_:at:)`` may be called from several threads at once, for different numbers. ``visit(_:)`` is
/// called after all of these calls.
final class OrderedSpool: Sendable {
  /// Offset and length of a text. Where no text was stored, both are 0.
  private typealias Entry = (offset: UInt64, length: UInt64)

  private let texts: Descriptor
  private let index: Descriptor
  /// The end of the texts, and why one could not be stored.
  private let progress = Locked<(end: UInt64, failure: Errno?)>((0, nil))

  /// - Parameter createFile: creates a file without a name.
  init(_ createFile: () throws(Errno) -> Descriptor) throws(Errno) {
    texts = try createFile()
    index = try createFile()
  }

  /// Stores a text. ``visit(_:)`` throws the error if this fails.
  ///
  /// - Parameter number: from 0. Numbers may be left out.
  func store(_ text: [UInt8], at number: Int) {
    let offset = progress.withLock { progress in
      defer { progress.end += UInt64(text.count) }
      return progress.end
    }
    let entry: Entry = (offset, UInt64(text.count))
    do throws(Errno) {
      try writeAll(text, to: texts.number, at: Int(offset))
      try writeAll(
        withUnsafeBytes(of: entry) { Array($0) }, to: index.number, at: number * MemoryLayout<Entry>.size)
    } catch {
      progress.withLock { $0.failure = $0.failure ?? error }
    }
  }

  /// Passes every text to `body`, in the order of their numbers.
  func visit(_ body: ([UInt8]) throws -> Void) throws {
    if let failure = progress.withLock({ $0.failure }) { throw failure }
    var entries = [Entry](repeating: (0, 0), count: 4096)
    var offset = 0
    while true {
      let size = try entries.withUnsafeMutableBytes { entries in
        try readAll(into: entries, from: index.number, at: offset)
      }
      for entry in entries.prefix(size / MemoryLayout<Entry>.size) where entry.length > 0 {
        let text = try readAll(Int(entry.length), from: texts.number, at: Int(entry.offset))
        if text.count < Int(entry.length) { throw Errno.ioError }
        try body(text)
      }
      if size < entries.count * MemoryLayout<Entry>.size { return }
      offset += size
    }
  }
}
