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

  /// Writes all of a text.
  ///
  /// - Returns: the error number, or nil when all is written.
  static func write(_ text: String, to descriptor: CInt) -> CInt? {
    var text = text
    return text.withUTF8 { bytes in
      var done = 0
      while done < bytes.count {
        let count = Foundation.write(descriptor, bytes.baseAddress! + done, bytes.count - done)
        if count >= 0 {
          done += count
        } else if errno == EAGAIN {
          var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          poll(&wanted, 1, -1)
        } else if errno != EINTR {
          return errno
        }
      }
      return nil
    }
  }
}
