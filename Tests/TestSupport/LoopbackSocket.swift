import Foundation

/// A socket that is bound to a port of loopback, which the system chooses. No other program gets the port while it is open.
///
/// The descriptor is not closed.
public func loopbackSocket() -> (descriptor: CInt, port: Int) {
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
  var length = socklen_t(MemoryLayout<sockaddr_in>.size)
  let isBound = withUnsafeMutablePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
    }
  }
  precondition(isBound, "no port on loopback")
  return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
}
