import Foundation
import Locking

/// An HTTP server on loopback that answers each request as a closure says, byte by byte.
///
/// *Concurrency*: each connection has a thread of its own, on which the closure is called.
final class ScriptedServer: Sendable {
  /// A request as it came: its first line and its fields, the names in small letters.
  struct Request: Sendable {
    let target: String
    let fields: [String: String]
    /// Counts the requests of the server from 0.
    let number: Int
  }

  /// The connection of a request, to which the closure writes.
  struct Connection: Sendable {
    let socket: CInt

    /// Sends bytes; false if the client is gone.
    @discardableResult
    func send(_ bytes: some Collection<UInt8>) -> Bool {
      var rest = Array(bytes)[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Foundation.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        if count <= 0 { return false }
        rest = rest.dropFirst(count)
      }
      return true
    }

    @discardableResult
    func send(_ text: String) -> Bool { send(text.utf8) }

    /// Sends a whole answer.
    func reply(_ status: Int = 200, _ fields: [String] = [], _ body: [UInt8] = []) {
      let lines = ["HTTP/1.1 \(status) Text", "Content-Length: \(body.count)"] + fields
      send(lines.joined(separator: "\r\n") + "\r\n\r\n")
      send(body)
    }

    /// Closes the connection with a reset.
    func reset() {
      var now = linger(l_onoff: 1, l_linger: 0)
      setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
    }

    /// Waits until the client is gone.
    func awaitEnd() {
      var byte: UInt8 = 0
      while recv(socket, &byte, 1, 0) > 0 {}
    }
  }

  /// Whether the connection is kept for the next request.
  typealias Script = @Sendable (Request, Connection) -> Bool

  private struct State {
    var requests: [Request] = []
    var open = 0
    var mostOpen = 0
    var connections = 0
    var sockets: Set<CInt> = []
  }

  let port: Int
  private let listener: CInt
  /// Guarded by its lock.
  private let state = Locked(State())

  init(_ script: @escaping Script) {
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = listener
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, 128) == 0 && getsockname(listener, $0, &length) == 0
      }
    }
    precondition(isBound, "no port on loopback")
    port = Int(UInt16(bigEndian: address.sin_port))
    Thread.detachNewThread { self.acceptAll(script) }
  }

  private func acceptAll(_ script: @escaping Script) {
    while case let client = accept(listener, nil, nil), client >= 0 {
      state.withLock { state in
        state.open += 1
        state.connections += 1
        state.mostOpen = max(state.mostOpen, state.open)
        state.sockets.insert(client)
      }
      Thread.detachNewThread { self.serve(client, script) }
    }
    // Closed only here: otherwise this thread could accept connections of another socket with the same number.
    close(listener)
  }

  /// Ends the server and all its connections. Call it once.
  func stop() {
    shutdown(listener, Int32(SHUT_RDWR))
    state.withLock { state in for socket in state.sockets { shutdown(socket, Int32(SHUT_RDWR)) } }
  }

  var requests: [Request] { state.withLock { $0.requests } }
  /// The most connections that were open at once, and all.
  var connections: (most: Int, all: Int) { state.withLock { ($0.mostOpen, $0.connections) } }

  func url(_ target: String = "/a.jpg", host: String = "127.0.0.1") -> String { "http://\(host):\(port)\(target)" }

  private func serve(_ client: CInt, _ script: Script) {
    while let request = read(client), script(request, Connection(socket: client)) {}
    state.withLock { state in
      state.open -= 1
      state.sockets.remove(client)
      close(client)
    }
  }

  private func read(_ client: CInt) -> Request? {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while !bytes.suffix(4).elementsEqual("\r\n\r\n".utf8) {
      guard recv(client, &byte, 1, 0) == 1 else { return nil }
      bytes.append(byte)
    }
    let lines = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n")
    var fields: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      fields[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    }
    let target = lines[0].split(separator: " ").dropFirst().first.map(String.init) ?? ""
    return state.withLock { state in
      let request = Request(target: target, fields: fields, number: state.requests.count)
      state.requests.append(request)
      return request
    }
  }
}
