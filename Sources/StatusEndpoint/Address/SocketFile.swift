import Foundation

/// The file of a listening unix socket, which only its maker removes.
final class SocketFile: Sendable {
  let path: String
  /// A copy that ``remove()`` can use without allocating. Never changed; freed with the object.
  nonisolated(unsafe) private let cPath: UnsafeMutablePointer<CChar>
  private let device: dev_t
  private let inode: ino_t
  private let maker = getpid()

  /// - Parameter path: where a socket has just been bound. Nil with `errno` set where there is none.
  init?(_ path: String) {
    guard let status = Sockets.status(of: path), let copy = strdup(path) else { return nil }
    self.path = path
    cPath = copy
    (device, inode) = (status.st_dev, status.st_ino)
  }

  deinit { free(cPath) }

  /// Removes the file, unless it is another's by now or this is a child of the process that made it.
  ///
  /// *Concurrency*: takes no lock and allocates nothing, for a thread that ends the process at once; any number of times.
  func remove() {
    var status = stat()
    guard getpid() == maker, lstat(cPath, &status) == 0, status.st_dev == device, status.st_ino == inode else { return }
    unlink(cPath)
  }

  /// Whether nobody listens any more at a socket: a connection is refused. Does not wait.
  static func isStale(_ path: String) -> Bool {
    guard let number = Sockets.make(AF_UNIX) else { return false }
    defer { close(number) }
    _ = fcntl(number, F_SETFL, O_NONBLOCK)  // a full backlog is not waited for, and shows that somebody listens
    return Sockets.withUnixAddress(path) { connect(number, $0, $1) != 0 && errno == ECONNREFUSED } ?? false
  }
}
