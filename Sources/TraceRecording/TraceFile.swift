import Files
import Foundation
import Locking

/// The file of a trace: blocks are written one after the other on a queue of its own, so that a slow disk, or a reader that
/// stands still, holds up nobody who records.
///
/// *Concurrency*: from any thread; the lock guards the count of blocks that wait, and the error.
final class TraceFile: Sendable {
  private struct State {
    /// Blocks handed over and not written yet.
    var waiting = 0
    var error: TraceError?
  }

  /// Blocks that may wait.
  private static let capacity = 64
  /// How long the end waits for a block to be written.
  private static let patience = DispatchTimeInterval.seconds(5)

  /// What it is called in errors.
  let path: String
  private let descriptor: CInt
  private let state = Locked(State())
  private let writer = DispatchQueue(label: "thumbjob.trace")

  /// Makes the file, or empties it where it is an earlier trace. One that holds something else is left as it is: whoever
  /// gives the path of a photo by mistake keeps the photo.
  ///
  /// - Parameter name: what it is called in errors.
  init(path: UnsafePointer<CChar>, name: String) throws(TraceError) {
    // Without waiting: a FIFO that nobody reads would hold up the run before it can be stopped.
    let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o666)
    guard descriptor >= 0 else { throw TraceError(path: name, code: errno) }
    let problem =
      flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
      ? "is being written by another run"
      : Self.mayEmpty(descriptor, path) ? nil : "holds something else than a trace, and is left as it is"
    if let problem {
      Foundation.close(descriptor)
      throw TraceError(path: name, reason: problem)
    }
    _ = ftruncate(descriptor, 0)
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
    (self.descriptor, self.path) = (descriptor, name)
  }

  deinit { Foundation.close(descriptor) }

  private static func mayEmpty(_ descriptor: CInt, _ path: UnsafePointer<CChar>) -> Bool {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else { return true }
    let reader = open(path, O_RDONLY | O_CLOEXEC)
    guard reader >= 0 else { return false }
    defer { Foundation.close(reader) }
    let beginning = Array("[\n{\"ph\":".utf8)
    var found = [UInt8](repeating: 0, count: beginning.count)
    let count = found.withUnsafeMutableBytes { try? readAll(into: $0, from: reader) }
    return count == found.count && found == beginning
  }

  /// Hands over a block; does not wait for it to be written.
  ///
  /// - Returns: false when it is dropped, because as many wait as may.
  func write(_ block: [UInt8]) -> Bool {
    let hasRoom = state.withLock { state in
      guard state.waiting < Self.capacity else { return false }
      state.waiting += 1
      return true
    }
    if hasRoom { writer.async { [self] in writeNow(block) } }
    return hasRoom
  }

  /// Returns once all that was handed over is written.
  ///
  /// - Throws: ``TraceError`` when not all of it could be.
  func finish() throws(TraceError) {
    let isWritten = DispatchGroup()
    writer.async(group: isWritten) {}
    var before = state.withLock { $0.waiting }
    while isWritten.wait(timeout: .now() + Self.patience) == .timedOut {
      let waiting = state.withLock { $0.waiting }
      if waiting >= before { throw TraceError(path: path, reason: "takes no more, so that the end is missing") }
      before = waiting
    }
    // Now, not when the writer's queue lets go of its last block: the next trace may begin at once.
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

/// A trace that could not be written, or read.
public struct TraceError: Error, Equatable, CustomStringConvertible {
  public let path: String
  public let reason: String

  init(path: String, reason: String) { (self.path, self.reason) = (path, reason) }

  /// - Parameter code: what the system said: an `errno`.
  init(path: String, code: CInt) { self.init(path: path, reason: String(cString: strerror(code))) }

  public var description: String { "\(path): \(reason)" }
}
