import Foundation

/// The bytes of a file of which only parts are there. What is not there is never read: not even as zeros.
///
/// *Concurrency*: for one thread.
package final class PartialBytes {
  /// What is there.
  package let held: RangeSet<Int>
  package var byteCount: Int { held.ranges.reduce(0) { $0 + $1.count } }
  /// What was to be read and is not there.
  package private(set) var missed = RangeSet<Int>()
  private let source: ByteReader

  /// - Parameter source: the file, which may have anything where parts are missing.
  package init(_ source: ByteReader, held: RangeSet<Int>) { (self.source, self.held) = (source, held) }

  /// Reads what is there. Reading what is not there fails with `ENODATA`, and is noted.
  ///
  /// - Parameter size: the bytes of the whole file.
  package func reader(size: Int) -> ByteReader {
    ByteReader(size: size) { [self] offset, buffer in
      guard offset < UInt64(size), !buffer.isEmpty else { return .success(0) }
      let wanted = Int(offset)..<min(size, Int(offset) + buffer.count)
      guard let part = held.ranges.last(where: { $0.lowerBound <= wanted.lowerBound }), part.contains(wanted.lowerBound)
      else {
        missed.insert(contentsOf: wanted)
        return .failure(ByteReader.ReadError(rawValue: ENODATA))
      }
      let count = min(wanted.count, part.upperBound - wanted.lowerBound)
      return source.read(at: offset, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
    }
  }

  /// Whether all of a part is there. If not, that is noted.
  package func has(_ range: Range<Int>) -> Bool {
    let absent = RangeSet(range).subtracting(held)
    missed.formUnion(absent)
    return absent.isEmpty
  }
}
