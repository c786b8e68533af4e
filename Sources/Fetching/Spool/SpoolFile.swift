import Files
import Foundation
import Locking

/// A file without a name for what is fetched of a source. Its space is given back when it is released.
///
/// *Concurrency*: one thread writes, and another may read what ``size`` covers.
package final class SpoolFile: Sendable {
  private struct State {
    var size = 0
    /// The parts of the file that were written. There may be gaps between them.
    var held = RangeSet<Int>()
    /// Bytes of the spool; nil before they are asked for, and while they are waited for.
    var reserved: Int?
    var isWaiting = false
  }

  private let file: Descriptor
  private let spool: Spool
  private let state = Locked(State())

  init(_ file: Descriptor, _ spool: Spool) { (self.file, self.spool) = (file, spool) }

  deinit { spool.release(state.withLock { $0.reserved } ?? 0, of: ObjectIdentifier(self)) }

  package var descriptor: CInt { file.number }
  /// The bytes in the file, up to its first gap.
  package var size: Int { state.withLock { $0.size } }
  /// What is in the file. Between these parts it has bytes that mean nothing.
  package var held: RangeSet<Int> { state.withLock { $0.held } }

  /// Reserves the space for the file. If it has less, as after a try whose answer was shorter, that is given back first.
  ///
  /// - Parameter grant: called when there is room, unless there is at once.
  /// - Returns: whether the space is reserved.
  package func reserve(_ bytes: Int, grant: @escaping @Sendable () -> Void) -> Bool {
    let (isNew, before) = state.withLock { state in
      if state.isWaiting || state.reserved.map({ $0 >= min(bytes, spool.capacity) }) == true { return (false, 0) }
      defer { (state.reserved, state.isWaiting) = (nil, true) }
      return (true, state.reserved ?? 0)
    }
    guard isNew else { return state.withLock { $0.reserved != nil } }
    if before > 0 { spool.release(before, of: nil) }
    let reserved = spool.reserve(bytes, for: self) { [weak self] in
      guard let self else { return false }
      // The spool has counted as many.
      self.state.withLock { ($0.reserved, $0.isWaiting) = (min(bytes, self.spool.capacity), false) }
      grant()
      return true
    }
    guard let reserved else { return false }
    state.withLock { ($0.reserved, $0.isWaiting) = (reserved, false) }
    return true
  }

  /// Gives back the space that the file does not need.
  package func shrinkReservation() {
    let surplus = state.withLock { state -> Int in
      let held = state.held.byteCount
      guard let reserved = state.reserved, reserved > held else { return 0 }
      state.reserved = held
      return reserved - held
    }
    if surplus > 0 { spool.release(surplus, of: nil) }
  }

  /// Gives back all space of the file until it is written again.
  func releaseReservation() {
    let released = state.withLock { state in
      defer { state.reserved = nil }
      return state.reserved ?? 0
    }
    if released > 0 { spool.release(released, of: nil) }
  }

  /// Appends bytes.
  ///
  /// - Throws: ``FetchError/spool(_:)``
  package func append(_ bytes: some Collection<UInt8>) throws(FetchError) {
    let result = Array(bytes).withUnsafeBytes { buffer in
      Result { () throws(FetchError) in try append(buffer) }
    }
    try result.get()
  }

  func append(_ bytes: UnsafeRawBufferPointer) throws(FetchError) { try write(bytes, at: size) }

  /// Writes bytes, which may follow a gap.
  ///
  /// - Throws: ``FetchError/spool(_:)``
  func write(_ bytes: UnsafeRawBufferPointer, at start: Int) throws(FetchError) {
    var rest = bytes
    var offset = start
    while !rest.isEmpty {
      let count = retryOnInterrupt { pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset)) }
      if count < 0 { throw .spool(Errno(rawValue: errno)) }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      offset += count
    }
    state.withLock { state in
      state.held.insert(contentsOf: start..<offset)
      if let first = state.held.ranges.first, first.lowerBound == 0 { state.size = first.upperBound }
    }
  }

  /// Keeps only the first bytes.
  ///
  /// - Throws: ``FetchError/spool(_:)``
  func truncate(to size: Int) throws(FetchError) {
    if retryOnInterrupt({ ftruncate(descriptor, off_t(size)) }) != 0 { throw .spool(Errno(rawValue: errno)) }
    state.withLock { state in
      state.held.formIntersection(RangeSet(0..<size))
      state.size = min(state.size, size)
    }
  }
}
