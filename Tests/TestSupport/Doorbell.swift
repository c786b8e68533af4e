import Foundation

/// A FIFO or socket for `$MEMORY_PRESSURE_WATCH`, with which a test signals memory pressure.
public final class Doorbell: Sendable {
  public enum Kind: CaseIterable, Sendable { case fifo, socket }

  public let path: String
  private let folder = TemporaryFolder()
  private let kind: Kind
  /// The listening socket; −1 for a FIFO.
  private let listener: CInt
  /// The accepted connection.
  private let connection = LockedBox<CInt>(-1)

  public init(_ kind: Kind) {
    self.kind = kind
    path = folder("bell")
    switch kind {
    case .fifo:
      listener = -1
      precondition(mkfifo(path, 0o600) == 0)
    case .socket:
      #if os(Linux)
      listener = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
      #else
      listener = socket(AF_UNIX, SOCK_STREAM, 0)
      #endif
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      let bytes = Array(path.utf8)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
      let size = socklen_t(MemoryLayout<sockaddr_un>.size)
      let status = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, size) }
      }
      precondition(status == 0 && listen(listener, 1) == 0)
    }
  }

  deinit { for file in [listener, connection.value] where file >= 0 { close(file) } }

  /// Signals pressure: writes single bytes. A FIFO is opened and closed for it, as by `echo`.
  public func ring(_ times: Int = 1) {
    let bell = kind == .fifo ? open(path, O_WRONLY) : accepted()
    for _ in 0..<times { precondition(write(bell, "x", 1) == 1) }
    if kind == .fifo { close(bell) }
  }

  /// Reads what the other side has written, at most `count` bytes.
  public func received(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    return Array(bytes[..<max(0, read(accepted(), &bytes, count))])
  }

  /// Closes the connection, or removes the FIFO.
  public func leave() {
    if kind == .fifo {
      unlink(path)
    } else {
      close(accepted())
      connection.change { $0 = -1 }
    }
  }

  private func accepted() -> CInt {
    connection.change { connection in
      if connection < 0 { connection = accept(listener, nil, nil) }
      return connection
    }
  }
}
