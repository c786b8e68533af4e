import Foundation

/// Socket calls whose constants and types differ between systems.
enum Sockets {
  #if os(Linux)
  static let stream = CInt(SOCK_STREAM.rawValue)
  #else
  static let stream = SOCK_STREAM
  #endif

  /// The longest path that fits into a socket address, in bytes without the final zero.
  static let longestPath = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

  /// A stream socket that no child process inherits, or nil with `errno` set.
  static func make(_ family: CInt) -> CInt? {
    #if os(Linux)
    let number = socket(family, stream | CInt(SOCK_CLOEXEC.rawValue), 0)
    return number >= 0 ? number : nil
    #else
    let number = socket(family, stream, 0)
    guard number >= 0 else { return nil }
    _ = fcntl(number, F_SETFD, FD_CLOEXEC)
    var on: CInt = 1
    setsockopt(number, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<CInt>.size))
    return number
    #endif
  }

  /// Calls `body` with the address of a socket file; nil if the path is too long.
  static func withUnixAddress<Result>(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result? {
    let bytes = Array(path.utf8)
    guard bytes.count <= longestPath else { return nil }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
  }

  /// The file status of a path, without following links; nil if it cannot be read.
  static func status(of path: String) -> stat? {
    var status = stat()
    return lstat(path, &status) == 0 ? status : nil
  }
}

extension stat {
  func isKind(_ kind: mode_t) -> Bool { st_mode & mode_t(S_IFMT) == kind }
}
