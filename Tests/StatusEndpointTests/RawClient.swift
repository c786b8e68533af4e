import Foundation
import TestSupport

@testable import StatusEndpoint

/// A client that sends arbitrary bytes. Its calls block: see ``onThread(_:)``.
final class RawClient: Sendable {
  struct Answer: Sendable {
    let status: Int
    /// By lower-case name.
    let headers: [String: String]
    let body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }

    func decoded<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
      try JSONText.decode(type, from: body)
    }
  }

  struct NoAnswer: Error {
    let received: String
  }

  fileprivate let number: CInt

  init(_ address: StatusAddress) throws {
    let family = if case .tcp = address { AF_INET } else { AF_UNIX }
    guard let number = Sockets.make(family) else { throw NoAnswer(received: "no socket") }
    self.number = number
    let status =
      switch address {
      case .off: CInt(-1)
      case .unix(let path): Sockets.withUnixAddress(path) { connect(number, $0, $1) } ?? -1
      case .tcp(_, let port): Self.connectHere(number, port)
      }
    guard status == 0 else { throw NoAnswer(received: "no connection") }
  }

  private static func connectHere(_ number: CInt, _ port: Int) -> CInt {
    var target = sockaddr_in()
    target.sin_family = sa_family_t(AF_INET)
    target.sin_port = in_port_t(port).bigEndian
    target.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return withUnsafePointer(to: &target) { target in
      target.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  deinit { close(number) }

  /// False when the other side has closed.
  @discardableResult func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  @discardableResult func send(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.send(number, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  /// The next bytes; empty if the other side has closed or nothing arrived in time.
  func receive(within seconds: Int = 60) -> [UInt8] {
    var item = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
    guard poll(&item, 1, CInt(seconds * 1000)) > 0 else { return [] }
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    let count = read(number, &buffer, buffer.count)
    return count > 0 ? Array(buffer[..<count]) : []
  }

  /// Reads until `text` has arrived, or until nothing more arrives.
  func receive(until text: String, within seconds: Int = 60) -> String {
    var bytes: [UInt8] = []
    while !String(decoding: bytes, as: UTF8.self).contains(text) {
      let more = receive(within: seconds)
      if more.isEmpty { break }
      bytes += more
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Whether the other side closes in time; reads and ignores what it sends before.
  func isClosed(within seconds: Double) -> Bool {
    let deadline = ContinuousClock.now + .seconds(seconds)
    while ContinuousClock.now < deadline {
      var item = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
      guard poll(&item, 1, 50) > 0 else { continue }
      var buffer = [UInt8](repeating: 0, count: 4096)
      if read(number, &buffer, buffer.count) <= 0 { return true }
    }
    return false
  }

  /// Reads the next answer.
  func answer(isHead: Bool = false) throws -> Answer {
    var bytes: [UInt8] = []
    while true {
      if let answer = Self.parse(bytes, isHead: isHead) { return answer }
      let more = receive()
      guard !more.isEmpty else { throw NoAnswer(received: String(decoding: bytes, as: UTF8.self)) }
      bytes += more
    }
  }

  private static func parse(_ bytes: [UInt8], isHead: Bool) -> Answer? {
    guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
    let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      headers[parts[0].lowercased()] = parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
    }
    let body = bytes[end.upperBound...]
    let length = isHead ? 0 : headers["content-length"].flatMap { Int($0) } ?? 0
    guard body.count >= length, let status = Int(lines[0].split(separator: " ")[1]) else { return nil }
    return Answer(status: status, headers: headers, body: Array(body.prefix(length)))
  }
}

extension RawClient {
  /// Sends as much as fits into the buffer; false if the other side has closed.
  func sendWithoutWaiting(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    let count = Foundation.send(number, bytes, bytes.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT))
    return count >= 0 || errno == EAGAIN
  }
}
