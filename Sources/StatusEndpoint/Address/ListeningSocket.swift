import Files
import Foundation

/// A listening socket and its address.
///
/// It is created here and handed to the server, because a server that binds a unix socket itself creates the file with
/// the mode that the umask leaves, and restricts it too late.
package struct ListeningSocket: Sendable {
  /// The server closes it; ``StatusEndpoint`` does if there is none yet.
  let descriptor: CInt
  /// With the real port.
  package let address: StatusAddress
  /// Nil for TCP, and for a socket of the service manager.
  package let file: SocketFile?
  /// Whether only this machine can reach it.
  let isLocal: Bool
  /// Whether it was bound to every address of the machine.
  let isWildcard: Bool

  private static let backlog: CInt = 128

  /// - Parameter address: not `off`.
  package static func open(_ address: StatusAddress) throws(StatusEndpointError) -> ListeningSocket {
    switch address {
    case .unix(let path): try unix(path)
    case .tcp(let host, let port): try tcp(host, port)
    case .off: throw StatusEndpointError("off", "is no address")
    }
  }

  /// The socket that the service manager has opened for this process; nil if there is none.
  ///
  /// - Throws: ``StatusEndpointError`` if there are several, because clients of the others would wait for ever; or if the socket
  ///   takes datagrams.
  ///
  /// *Source*: sd_listen_fds(3): the first of `$LISTEN_FDS` sockets is descriptor 3, if `$LISTEN_PID` is this process.
  package static func activated(
    _ environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(StatusEndpointError) -> ListeningSocket? {
    guard environment["LISTEN_PID"] == "\(getpid())", let count = environment["LISTEN_FDS"].flatMap({ Int($0) }),
      count >= 1
    else { return nil }
    guard count == 1 else {
      throw StatusEndpointError(
        "LISTEN_FDS",
        "the service manager has opened \(count) sockets, and one can be served; in a unit, an empty "
          + "ListenStream= takes earlier ones away")
    }
    let number = firstActivated
    _ = fcntl(number, F_SETFD, FD_CLOEXEC)
    var storage = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let isSocket = withUnsafeMutablePointer(to: &storage) { storage in
      storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(number, $0, &size) == 0 }
    }
    guard isSocket else { return nil }
    var type: CInt = 0
    var typeSize = socklen_t(MemoryLayout<CInt>.size)
    guard getsockopt(number, SOL_SOCKET, SO_TYPE, &type, &typeSize) == 0, type == Sockets.stream else {
      throw StatusEndpointError(
        "LISTEN_FDS",
        "the socket of the service manager takes no connections; in a unit, ListenStream= names one that does")
    }
    if storage.ss_family == sa_family_t(AF_UNIX) {
      return ListeningSocket(
        descriptor: number, address: .unix("socket of the service manager"), file: nil, isLocal: true, isWildcard: false
      )
    }
    return withUnsafePointer(to: &storage) { storage in
      storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        let (isLocal, isWildcard) = reach(address)
        return ListeningSocket(
          descriptor: number, address: .tcp(host: host(of: address, size), port: port(of: number) ?? 0), file: nil,
          isLocal: isLocal, isWildcard: isWildcard)
      }
    }
  }

  /// The address of a host as numbers.
  private static func host(of address: UnsafePointer<sockaddr>, _ size: socklen_t) -> String {
    var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    let status = getnameinfo(address, size, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
    return status == 0 ? String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) : "?"
  }

  private static let firstActivated: CInt = 3

  func close() { Foundation.close(descriptor) }

  // MARK: Unix sockets

  /// In the runtime folder, under the id of this process.
  static func inRuntimeFolder(_ environment: [String: String]) throws(StatusEndpointError) -> ListeningSocket {
    let folder = try RuntimeFolder.make(environment)
    folder.sweep()
    // A container that shares the folder may have a process with the same id.
    for suffix in [""] + (2...9).map({ "-\($0)" }) {
      let path = "\(folder.path)/\(getpid())\(suffix).sock"
      if Sockets.status(of: path) == nil { return try unix(path) }
    }
    throw StatusEndpointError(folder.path, "holds nine sockets of process id \(getpid()) already")
  }

  static func unix(_ path: String) throws(StatusEndpointError) -> ListeningSocket {
    let name = "unix:\(path)"
    guard path.utf8.count <= Sockets.longestPath else {
      throw StatusEndpointError(name, "the path is longer than the \(Sockets.longestPath) bytes a socket may have")
    }
    if let status = Sockets.status(of: path) {
      guard status.isKind(mode_t(S_IFSOCK)) else {
        throw StatusEndpointError(name, "is a file, but not a socket")
      }
      guard SocketFile.isStale(path) else { throw StatusEndpointError(name, "is in use by another process") }
      unlink(path)
    }
    guard let number = Sockets.make(AF_UNIX) else { throw StatusEndpointError(name, systemText(errno)) }
    // On Linux the file gets the mode of the socket, so that it is never open to other users.
    _ = fchmod(number, 0o600)
    let isBound = Sockets.withUnixAddress(path) { bind(number, $0, $1) == 0 } ?? false
    guard isBound, let file = SocketFile(path) else {
      let error = failed(number, name)
      if isBound { unlink(path) }
      throw error
    }
    guard chmod(path, 0o600) == 0, listen(number, backlog) == 0 else {
      let error = failed(number, name)
      file.remove()
      throw error
    }
    return ListeningSocket(
      descriptor: number, address: .unix(path), file: file, isLocal: true, isWildcard: false)
  }

  // MARK: TCP

  static func tcp(_ host: String, _ port: Int) throws(StatusEndpointError) -> ListeningSocket {
    let name = "\(StatusAddress.tcp(host: host, port: port))"
    var hints = addrinfo()
    hints.ai_socktype = Sockets.stream
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
    var found: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(host, "\(port)", &hints, &found)
    guard status == 0, let first = found else {
      throw StatusEndpointError(name, "no such host: \(String(cString: gai_strerror(status)))")
    }
    defer { freeaddrinfo(first) }
    guard let number = Sockets.make(first.pointee.ai_family) else { throw StatusEndpointError(name, systemText(errno)) }
    var on: CInt = 1
    setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<CInt>.size))
    guard bind(number, first.pointee.ai_addr, first.pointee.ai_addrlen) == 0, listen(number, backlog) == 0 else {
      throw failed(number, name)
    }
    let (isLocal, isWildcard) = reach(first.pointee.ai_addr)
    return ListeningSocket(
      descriptor: number, address: .tcp(host: host, port: Self.port(of: number) ?? port), file: nil,
      isLocal: isLocal, isWildcard: isWildcard)
  }

  /// Whether only this machine can reach the address, and whether it stands for all addresses.
  private static func reach(_ address: UnsafePointer<sockaddr>) -> (isLocal: Bool, isWildcard: Bool) {
    if address.pointee.sa_family == sa_family_t(AF_INET) {
      let number = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
        UInt32(bigEndian: $0.pointee.sin_addr.s_addr)
      }
      return (number >> 24 == 127, number == 0)
    }
    let bytes = address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
      withUnsafeBytes(of: address.pointee.sin6_addr) { Array($0) }
    }
    let isZero = bytes.dropLast().allSatisfy { $0 == 0 }
    return (isZero && bytes.last == 1, isZero && bytes.last == 0)
  }

  private static func port(of number: CInt) -> Int? {
    var storage = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutablePointer(to: &storage) { storage in
      let status = storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(number, $0, &size) }
      guard status == 0 else { return nil }
      // The port is at the same place in both kinds of address.
      return storage.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
        Int(UInt16(bigEndian: $0.pointee.sin_port))
      }
    }
  }

  /// Closes the socket and returns the error for the call that just failed.
  private static func failed(_ number: CInt, _ name: String) -> StatusEndpointError {
    let code = errno
    Foundation.close(number)
    let reason =
      switch code {
      case EADDRINUSE: "is in use by another process"
      case EADDRNOTAVAIL: "is no address of this machine"
      default: systemText(code)
      }
    return StatusEndpointError(name, reason)
  }
}
