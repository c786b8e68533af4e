import Foundation

/// The service manager that has started this process and wants to be told its state: systemd, or another with its protocol.
///
/// *Source*: sd_notify(3): a datagram with a line for each assignment to the socket in `$NOTIFY_SOCKET`, where a leading
/// `@` stands for the zero byte of an abstract name; `$WATCHDOG_USEC` has the longest time between two signs of life.
final class ServiceManager: Sendable {
  private let socket: CInt
  private let address: sockaddr_un
  private let length: socklen_t
  /// How often to send a sign of life; nil if none is wanted.
  let watchdogPause: Duration?

  /// Nil if no service manager wants to be told.
  init?(environment: [String: String] = ProcessInfo.processInfo.environment) {
    guard let path = environment["NOTIFY_SOCKET"], let first = path.utf8.first,
      [UInt8(ascii: "/"), UInt8(ascii: "@")].contains(first)
    else { return nil }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = first == UInt8(ascii: "@") ? [0] + path.utf8.dropFirst() : Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let socket = Foundation.socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { return nil }
    (self.socket, self.address) = (socket, address)
    length = socklen_t(MemoryLayout.offset(of: \sockaddr_un.sun_path)! + bytes.count)
    // Systemd recommends half of its time.
    let isForThisProcess = environment["WATCHDOG_PID"].map { $0 == "\(getpid())" } ?? true
    let microseconds = isForThisProcess ? environment["WATCHDOG_USEC"].flatMap { Int($0) } : nil
    watchdogPause = microseconds.flatMap { $0 > 0 ? .microseconds($0 / 2) : nil }
  }

  deinit { close(socket) }

  /// Sends a line, such as `READY=1`. Never waits: a service manager that does not read misses it.
  func send(_ line: String) {
    var address = address
    let bytes = Array(line.utf8)
    _ = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(socket, bytes, bytes.count, CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL), $0, length)
      }
    }
  }
}
