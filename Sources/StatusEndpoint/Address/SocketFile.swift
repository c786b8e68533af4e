import Foundation

/// The file of a listening unix socket. Only the process that created it removes it.
package final class SocketFile: Sendable {
  let path: String
  /// A copy that ``remove()`` can use without allocating. Never changed; freed with the object.
  nonisolated(unsafe) private let cPath: UnsafeMutablePointer<CChar>
  private let device: dev_t
  private let inode: ino_t
  private let maker = getpid()

  /// - Parameter path: the path of a socket that was just bound. The result is nil, with `errno` set, if there is none.
  init?(_ path: String) {
    guard let status = Sockets.status(of: path), let copy = strdup(path) else { return nil }
    self.path = path
    cPath = copy
    (device, inode) = (status.st_dev, status.st_ino)
  }

  deinit { free(cPath) }

  /// Removes the file, unless it has been replaced or this is a child of the process that created it.
  ///
  /// *Concurrency*: takes no lock and does not allocate, for a thread that ends the process at once; any number of times.
  package func remove() {
    var status = stat()
    guard getpid() == maker, lstat(cPath, &status) == 0, status.st_dev == device, status.st_ino == inode else { return }
    unlink(cPath)
  }

  /// Whether a socket has no listener: a connection is refused. Does not block.
  static func isStale(_ path: String) -> Bool {
    guard let number = Sockets.make(AF_UNIX) else { return false }
    defer { close(number) }
    _ = fcntl(number, F_SETFL, O_NONBLOCK)  // does not wait for a full backlog, which proves a listener
    return Sockets.withUnixAddress(path) { connect(number, $0, $1) != 0 && errno == ECONNREFUSED } ?? false
  }
}
