import Foundation

/// An HTTP server on loopback that answers each request as a closure says, byte by byte.
///
/// *Concurrency*: each connection has a thread of its own, on which the closure is called.
public final class ScriptedServer: Sendable {
  /// A request as it came: its first line and its fields, the names in small letters.
  public struct Request: Sendable {
    public let target: String
    public let fields: [String: String]
    /// Counts the requests of the server from 0.
    public let number: Int
  }

  /// The connection of a request, to which the closure writes.
  public struct Connection: Sendable {
    let socket: CInt

    public init(socket: CInt) { self.socket = socket }

    /// Sends bytes; false if the client is gone.
    @discardableResult
    public func send(_ bytes: some Collection<UInt8>) -> Bool {
      var rest = Array(bytes)[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Foundation.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        if count <= 0 { return false }
        rest = rest.dropFirst(count)
      }
      return true
    }

    @discardableResult
    public func send(_ text: String) -> Bool { send(text.utf8) }

    /// Sends a whole answer.
    public func reply(_ status: Int = 200, _ fields: [String] = [], _ body: [UInt8] = []) {
      let lines = ["HTTP/1.1 \(status) Text", "Content-Length: \(body.count)"] + fields
      send(lines.joined(separator: "\r\n") + "\r\n\r\n")
      send(body)
    }

    /// Closes the connection with a reset.
    public func reset() {
      var now = linger(l_onoff: 1, l_linger: 0)
      setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
    }

    /// Waits until the client is gone.
    public func awaitEnd() {
      var byte: UInt8 = 0
      while recv(socket, &byte, 1, 0) > 0 {}
    }
  }

  /// Whether the connection is kept for the next request.
  public typealias Script = @Sendable (Request, Connection) -> Bool

  private struct State {
    var requests: [Request] = []
    var open = 0
    var mostOpen = 0
    var connections = 0
    var sockets: Set<CInt> = []
  }

  public let port: Int
  private let listener: CInt
  /// Guarded by its lock.
  private let state = LockedBox(State())

  public init(_ script: @escaping Script) {
    (listener, port) = loopbackSocket()
    precondition(listen(listener, 128) == 0, "no server on loopback")
    Thread.detachNewThread { self.acceptAll(script) }
  }

  private func acceptAll(_ script: @escaping Script) {
    while case let client = accept(listener, nil, nil), client >= 0 {
      state.change { state in
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
  public func stop() {
    shutdown(listener, Int32(SHUT_RDWR))
    state.change { state in for socket in state.sockets { shutdown(socket, Int32(SHUT_RDWR)) } }
  }

  public var requests: [Request] { state.change { $0.requests } }
  /// The most connections that were open at once, and all.
  public var connections: (most: Int, all: Int) { state.change { ($0.mostOpen, $0.connections) } }

  public func url(_ target: String = "/a.jpg", host: String = "127.0.0.1") -> String {
    "http://\(host):\(port)\(target)"
  }

  private func serve(_ client: CInt, _ script: Script) {
    while let request = read(client), script(request, Connection(socket: client)) {}
    state.change { state in
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
    return state.change { state in
      let request = Request(target: target, fields: fields, number: state.requests.count)
      state.requests.append(request)
      return request
    }
  }
}
