import Files
import Foundation
import Locking

/// The file of a trace. A thread of its own writes the blocks, so that a slow disk or a stalled reader does not
/// stall recording.
///
/// *Concurrency*: every member may be called from any thread.
final class TraceFile: Sendable {
  /// Guarded by its lock.
  private struct State {
    /// Blocks that are not written yet.
    var waiting = 0
    var error: TraceError?
  }

  /// The largest number of waiting blocks. Further blocks are dropped.
  private static let capacity = 64
  /// How long `finish` waits for a block to be written.
  private static let timeout = Duration.seconds(5)

  /// The path in its printable form, for errors.
  let path: String
  private let descriptor: CInt
  private let state = Locked(State())
  private let writer = SerialThread(name: "trace")

  /// Creates the file, or empties an earlier trace. Any other file stays as it is: the path of a photo, given by
  /// mistake, must not cost the photo.
  ///
  /// - Parameter name: the path in its printable form, for errors.
  /// - Throws: ``TraceError``
  init(path: UnsafePointer<CChar>, name: String) throws(TraceError) {
    // O_NONBLOCK, because opening a FIFO without a reader would block, and the run does not handle signals yet.
    let descriptor = retryOnInterrupt { open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o666) }
    guard descriptor >= 0 else { throw TraceError(path: name, code: errno) }
    if let reason = Self.reasonToKeep(descriptor, path) {
      Foundation.close(descriptor)
      throw TraceError(path: name, reason: reason)
    }
    // EINVAL: a FIFO or a device has no length.
    if retryOnInterrupt({ ftruncate(descriptor, 0) }) != 0, errno != EINVAL {
      let error = TraceError(path: name, code: errno)
      Foundation.close(descriptor)
      throw error
    }
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
    (self.descriptor, self.path) = (descriptor, name)
  }

  deinit { Foundation.close(descriptor) }

  /// Why the file may not be emptied; nil if it is empty, a trace, or not a regular file. A regular file is locked, so that
  /// two runs do not mix their traces. Several may write to one device, such as `/dev/null`.
  private static func reasonToKeep(_ descriptor: CInt, _ path: UnsafePointer<CChar>) -> String? {
    func unreadable(_ code: CInt) -> String { "cannot be read, and is left as it is: \(systemText(code))" }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return unreadable(errno) }
    if status.kind != .regular { return nil }
    if retryOnInterrupt({ flock(descriptor, LOCK_EX | LOCK_NB) }) != 0, errno == EWOULDBLOCK {
      return "is being written by another run"
    }
    if status.st_size == 0 { return nil }
    let reader = retryOnInterrupt { open(path, O_RDONLY | O_CLOEXEC) }
    guard reader >= 0 else { return unreadable(errno) }
    defer { Foundation.close(reader) }
    let beginning = Array("[\n{\"ph\":".utf8)
    do {
      if try readAll(from: reader, limit: beginning.count) == beginning { return nil }
    } catch {
      return unreadable(error.rawValue)
    }
    return "holds something else than a trace, and is left as it is"
  }

  /// Submits a block for writing; never waits.
  ///
  /// - Returns: false if the block is dropped, because too many blocks wait.
  func write(_ block: [UInt8]) -> Bool {
    let hasRoom = state.withLock { state in
      guard state.waiting < Self.capacity else { return false }
      state.waiting += 1
      return true
    }
    if hasRoom { writer.async { [self] in writeNow(block) } }
    return hasRoom
  }

  /// Waits until all submitted blocks are written.
  ///
  /// - Throws: ``TraceError`` if some could not be written.
  func finish() throws(TraceError) {
    var before = state.withLock { $0.waiting }
    while !writer.drain(upTo: Self.timeout) {
      let waiting = state.withLock { $0.waiting }
      if waiting >= before { throw TraceError(path: path, reason: "accepts no more data, so the end is missing") }
      before = waiting
    }
    // At once, and not when the thread releases its last reference to `self`: the next trace may begin right after this.
    _ = flock(descriptor, LOCK_UN)
    if let error = state.withLock({ $0.error }) { throw error }
  }

  private func writeNow(_ block: [UInt8]) {
    var failure = state.withLock { $0.error }
    if failure == nil {
      do { try writeAll(block, to: descriptor) } catch { failure = TraceError(path: path, code: error.rawValue) }
    }
    state.withLock { state in
      state.waiting -= 1
      state.error = failure
    }
  }
}

/// A trace cannot be written, or not be read.
public struct TraceError: Error, Equatable, CustomStringConvertible {
  public let path: String
  public let reason: String

  init(path: String, reason: String) { (self.path, self.reason) = (path, reason) }

  /// - Parameter code: a value of `errno`.
  init(path: String, code: CInt) { self.init(path: path, reason: systemText(code)) }

  public var description: String { "\(path): \(reason)" }
}
