import ArgumentParser
import Files
import Foundation

/// Standard input, output and error of the process.
enum StandardStream {
  /// Opens the streams that the parent has closed, so that no other file gets their numbers: otherwise a message could
  /// be written into a thumbnail. Reading or writing such a stream still fails.
  static func reserve() {
    for (descriptor, uselessMode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)] {
      if fcntl(descriptor, F_GETFD) < 0 { _ = open("/dev/null", uselessMode) }
    }
  }

  /// Writes data to standard output.
  ///
  /// - Parameter deadline: how long to wait for the reader; nil means forever.
  /// - Throws: an exit status if the write fails, after printing the reason. The status is success if the reader has closed
  ///   the pipe.
  static func put(_ text: String, deadline: WriteDeadline? = nil) throws(ExitCode) {
    guard let error = write(text, to: STDOUT_FILENO, deadline: deadline) else { return }
    if error == EPIPE { throw .success }
    Console().print("thumbjob: standard output: \(systemText(error))")
    throw ExitStatus.ioError.code
  }

  /// The bytes that a pipe with room accepts without blocking: PIPE_BUF of Linux (pipe(7)).
  private static let chunk = 4096
  /// The milliseconds between two checks of the deadline by a waiting writer.
  private static let interval: CInt = 100

  /// Writes a whole text. `writeAll` is not enough: the stream may be non-blocking, and the wait may have a deadline.
  ///
  /// - Parameter deadline: how long to wait for the reader; nil means forever.
  /// - Returns: nil, or the error number of the failed write; `EAGAIN` if the reader took too long.
  static func write(_ text: String, to descriptor: CInt, deadline: WriteDeadline? = nil) -> CInt? {
    var text = text
    return text.withUTF8 { write(UnsafeRawBufferPointer($0), to: descriptor, deadline: deadline) }
  }

  /// Writes all bytes, as above.
  static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: CInt, deadline: WriteDeadline? = nil) -> CInt? {
    var done = 0
    while done < bytes.count {
      if let deadline {
        var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        if poll(&wanted, 1, interval) == 0 {
          if deadline.isOver { return EAGAIN }
          continue
        }
      }
      let size = deadline == nil ? bytes.count - done : min(chunk, bytes.count - done)
      let count = retryOnInterrupt { Foundation.write(descriptor, bytes.baseAddress! + done, size) }
      if count >= 0 {
        done += count
      } else if errno == EAGAIN {
        var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&wanted, 1, deadline == nil ? -1 : interval)
        if deadline?.isOver == true { return EAGAIN }
      } else {
        return errno
      }
    }
    return nil
  }
}
