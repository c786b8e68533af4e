import Files
import Foundation

/// Wakes a thread that waits in poll(2).
final class WakePipe: Sendable {
  let reader: Descriptor
  private let writer: Descriptor

  init() throws(SystemError) {
    var ends: [CInt] = [-1, -1]
    guard pipe(&ends) == 0 else { throw SystemError("pipe") }
    (reader, writer) = (Descriptor(ends[0]), Descriptor(ends[1]))
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
  }

  /// Never blocks; a full pipe wakes the thread just as well.
  func wake() { _ = writer.write([1]) }
}
