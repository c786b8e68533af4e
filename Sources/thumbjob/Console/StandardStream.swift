import ArgumentParser
import Files
import Foundation

/// The three streams that a process is given.
enum StandardStream {
  /// Sees to it that the first three descriptors are taken. What is opened next would otherwise pass for a stream that
  /// the parent has closed, and a thumbnail get what was meant for people. Using such a stream still fails.
  static func reserve() {
    for (descriptor, uselessMode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)] {
      if fcntl(descriptor, F_GETFD) < 0 { _ = open("/dev/null", uselessMode) }
    }
  }

  /// Writes data for whoever reads standard output.
  ///
  /// - Parameter patience: how long to wait for whoever does not read; nil for as long as it takes.
  /// - Throws: an exit status where it cannot be written, with the reason said; success where nobody reads any more.
  static func put(_ text: String, patience: Patience? = nil) throws(ExitCode) {
    guard let error = write(text, to: STDOUT_FILENO, patience: patience) else { return }
    if error == EPIPE { throw .success }
    Console().say("thumbjob: standard output: \(String(cString: strerror(error)))")
    throw ExitStatus.ioError.code
  }

  /// What a pipe that has room takes without waiting: PIPE_BUF of Linux (pipe(7)).
  private static let chunk = 4096
  /// Milliseconds after which a writer looks whether it is still to wait.
  private static let look: CInt = 100

  /// Writes all of a text. Not `writeAll`: a stream may be one that does not block, and a wait may have an end.
  ///
  /// - Parameter patience: how long to wait for whoever does not read; nil for as long as it takes.
  /// - Returns: the error number, or nil when all is written; `EAGAIN` when the patience was over.
  static func write(_ text: String, to descriptor: CInt, patience: Patience? = nil) -> CInt? {
    var text = text
    return text.withUTF8 { bytes in
      var done = 0
      while done < bytes.count {
        if let patience {
          var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          if poll(&wanted, 1, look) == 0 {
            if patience.isOver { return EAGAIN }
            continue
          }
        }
        let size = patience == nil ? bytes.count - done : min(chunk, bytes.count - done)
        let count = retryOnInterrupt { Foundation.write(descriptor, bytes.baseAddress! + done, size) }
        if count >= 0 {
          done += count
        } else if errno == EAGAIN {
          var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          poll(&wanted, 1, patience == nil ? -1 : look)
          if patience?.isOver == true { return EAGAIN }
        } else {
          return errno
        }
      }
      return nil
    }
  }
}
