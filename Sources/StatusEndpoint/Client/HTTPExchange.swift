import Files
import Foundation

/// One HTTP/1.1 request and its answer, on its own connection, before a deadline.
struct HTTPExchange {
  private let address: StatusAddress
  private let token: AccessToken?
  private let deadline: ContinuousClock.Instant

  /// The most bytes of an answer; a longer one is not from thumbjob.
  private static let longestAnswer = 16 << 20

  init(_ client: StatusClient, until deadline: ContinuousClock.Instant) {
    (address, token, self.deadline) = (client.address, client.token, deadline)
  }

  /// - Returns: the status, and the body.
  func ask(
    _ method: String, _ target: String, _ body: [UInt8]?
  ) throws(StatusClientError) -> (status: Int, body: ArraySlice<UInt8>) {
    let number = try connected()
    defer { close(number) }
    var lines = ["\(method) \(target) HTTP/1.1", "Host: \(host)", "Connection: close"]
    if let token { lines.append("Authorization: Bearer \(token.text)") }
    if body != nil { lines.append("Content-Type: application/json") }
    if body != nil || method != "GET" { lines.append("Content-Length: \(body?.count ?? 0)") }
    try send(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + (body ?? []), to: number)
    return try answer(from: number)
  }

  private var host: String {
    if case .tcp = address { "\(address)" } else { "localhost" }
  }

  // MARK: Connecting

  private func connected() throws(StatusClientError) -> CInt {
    switch address {
    case .off: throw error(.notRunning, "no endpoint, so nobody to ask")
    case .unix(let path):
      guard let number = Sockets.make(AF_UNIX) else { throw error(.connection, systemText(errno)) }
      guard let status = Sockets.withUnixAddress(path, { self.connect(number, $0, $1) }) else {
        close(number)
        throw error(.connection, "the path is longer than a socket may have")
      }
      return try checked(status, number)
    case .tcp(let host, let port):
      var hints = addrinfo()
      hints.ai_socktype = Sockets.stream
      var found: UnsafeMutablePointer<addrinfo>?
      let status = getaddrinfo(host, "\(port)", &hints, &found)
      guard status == 0, let first = found else {
        throw error(.connection, "no such host: \(String(cString: gai_strerror(status)))")
      }
      defer { freeaddrinfo(first) }
      // A name may have addresses of both kinds, of which a run listens at one.
      var next: UnsafeMutablePointer<addrinfo>? = first
      while true {
        guard let item = next else { throw error(.connection, "no address") }
        next = item.pointee.ai_next
        do throws(StatusClientError) {
          guard let number = Sockets.make(item.pointee.ai_family) else { throw error(.connection, systemText(errno)) }
          return try checked(connect(number, item.pointee.ai_addr, item.pointee.ai_addrlen), number)
        } catch {
          if next == nil { throw error }
        }
      }
    }
  }

  /// Connects without waiting for longer than there is time; the error number, or 0.
  private func connect(_ number: CInt, _ address: UnsafePointer<sockaddr>, _ size: socklen_t) -> CInt {
    _ = fcntl(number, F_SETFL, O_NONBLOCK)
    while retryOnInterrupt({ Foundation.connect(number, address, size) }) != 0 {
      switch errno {
      case EAGAIN:
        // The backlog of a unix socket is full, which nothing but asking again tells the end of.
        guard ContinuousClock.now < deadline else { return ETIMEDOUT }
        usleep(10_000)
      case EINPROGRESS:
        guard wait(number, for: POLLOUT) else { return ETIMEDOUT }
        var (code, length) = (CInt(0), socklen_t(MemoryLayout<CInt>.size))
        getsockopt(number, SOL_SOCKET, SO_ERROR, &code, &length)
        return code
      default: return errno
      }
    }
    return 0
  }

  private func checked(_ status: CInt, _ number: CInt) throws(StatusClientError) -> CInt {
    if status == 0 { return number }
    close(number)
    switch status {
    case ECONNREFUSED, ENOENT: throw error(.notRunning, "nobody listens there")
    case ETIMEDOUT: throw timedOut
    default: throw error(.connection, systemText(status))
    }
  }

  // MARK: Sending and receiving

  private func send(_ bytes: [UInt8], to number: CInt) throws(StatusClientError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      guard wait(number, for: POLLOUT) else { throw timedOut }
      #if os(Linux)
        let flags = CInt(MSG_NOSIGNAL)
      #else
        let flags: CInt = 0
      #endif
      let count = rest.withUnsafeBytes { bytes in
        retryOnInterrupt { Foundation.send(number, bytes.baseAddress, bytes.count, flags) }
      }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno == EPIPE || errno == ECONNRESET {
        return  // it may have answered before it closed
      } else if errno != EAGAIN {
        throw error(.connection, systemText(errno))
      }
    }
  }

  /// Reads until the other side closes, as it was asked to.
  private func answer(from number: CInt) throws(StatusClientError) -> (Int, ArraySlice<UInt8>) {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      if let answer = Self.parse(bytes, isWhole: false) { return answer }
      guard wait(number, for: POLLIN) else { throw timedOut }
      let count = retryOnInterrupt { read(number, &buffer, buffer.count) }
      if count > 0 {
        bytes += buffer[..<count]
        guard bytes.count <= Self.longestAnswer else { throw error(.garbled, "the answer does not end") }
      } else if count == 0 || errno == ECONNRESET {
        guard let answer = Self.parse(bytes, isWhole: true) else {
          throw error(bytes.isEmpty ? .connection : .garbled, bytes.isEmpty ? "hung up" : "its answer is cut off")
        }
        return answer
      } else if errno != EAGAIN {
        throw error(.connection, systemText(errno))
      }
    }
  }

  /// The status and body of an answer that is complete by its length or, without one, by the end of the connection.
  static func parse(_ bytes: [UInt8], isWhole: Bool) -> (Int, ArraySlice<UInt8>)? {
    guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
    let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
    let words = lines.first?.split(separator: " ") ?? []
    guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else { return nil }
    let body = bytes[end.upperBound...]
    var length: Int?
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      guard parts.count == 2, parts[0].lowercased() == "content-length" else { continue }
      length = Int(parts[1].filter { $0 != " " })
      if let length, length < 0 { return nil }
    }
    guard let length else { return isWhole ? (status, body) : nil }
    return body.count >= length ? (status, body.prefix(length)) : nil
  }

  /// Waits until the socket is ready; false when there is no time left.
  private func wait(_ number: CInt, for events: CInt) -> Bool {
    while true {
      let left = deadline - .now
      guard left > .zero else { return false }
      var item = pollfd(fd: number, events: Int16(events), revents: 0)
      let status = poll(&item, 1, CInt(left / .milliseconds(1)) + 1)
      if status > 0 { return true }
      // After EINTR it waits for less. Of any other error the call that follows says what is wrong.
      if status < 0, errno != EINTR { return true }
    }
  }

  private var timedOut: StatusClientError { error(.timedOut, "did not answer in time") }

  private func error(_ kind: StatusClientError.Kind, _ reason: String) -> StatusClientError {
    StatusClientError(kind, address, reason)
  }
}
