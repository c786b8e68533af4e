import Files
import Foundation
import TestSupport
import Testing

@testable import Fetching

// Failures: what is tried again, what is refused, and what hostile servers cost.
extension FetcherTests {
  @Test func whatMayPassIsTriedAgain() async throws {
    let server = ScriptedServer { request, connection in
      switch request.number {
      case 0:
        // A new connection for the next try: on one that was used before, libcurl tries again by itself.
        connection.reply(503, ["Retry-After: 0", "Connection: close"])
        return false
      case 1:
        connection.reset()
        return false
      case 2:
        connection.send("HTTP/1.1 200 OK\r\nContent-Ty")
        return false
      default: connection.reply(200, [], [1, 2, 3])
      }
      return true
    }
    defer { server.stop() }
    let monitor = TestMonitor()
    let (_, bytes) = try await Setup().fetch(server.url(), monitor)
    #expect(bytes == [1, 2, 3] && server.requests.count == 4)
    #expect(monitor.stages.filter { $0 == .waitingToRetry }.count == 3)
  }

  @Test(arguments: [(404, 1), (403, 1), (304, 1), (500, 2), (429, 2)])
  func aStatusIsAFailure(status: Int, tries: Int) async throws {
    let server = ScriptedServer { _, connection in
      connection.reply(status, [], Array("<html>".utf8))
      return true
    }
    defer { server.stop() }
    #expect(try await Setup { $0.tries = 2 }.failure(server.url()) == .status(status))
    #expect(server.requests.count == tries)
  }

  @Test func aLongWaitIsToldAndNotWaitedFor() async throws {
    let server = ScriptedServer { _, connection in
      connection.reply(429, ["Retry-After: 7200"])
      return true
    }
    defer { server.stop() }
    #expect(try await Setup().failure(server.url()) == .waitTooLong(7200, status: 429))
  }

  /// The second source is not asked for while its host wants to be left alone.
  @Test func aLongWaitMayBeLeftToTheCaller() async throws {
    let server = ScriptedServer { _, connection in
      connection.reply(429, ["Retry-After: 30"])
      return true
    }
    defer { server.stop() }
    let setup = try Setup()
    for (before, after) in [(2, 3), (1, 1)] {
      var request = FetchRequest(.url(try RemoteURL(parsing: server.url().utf8)))
      (request.tries, request.leavesLongWaits) = (before, true)
      let asked = request
      let start = ContinuousClock.now
      let error = await #expect(throws: FetchError.self) {
        try await onThread {
          try setup.fetcher.fetch(asked, into: try setup.spool.file(), monitor: TestMonitor())
        }
      }
      guard case .postponed(let postponement)? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(postponement.tries == after && postponement.host == "127.0.0.1:\(server.port)")
      #expect(start + .seconds(29)...ContinuousClock.now + .seconds(34) ~= postponement.until)
    }
    #expect(server.requests.count == 1 && setup.spool.reserved == 0)
  }

  @Test func aBrokenTransferGoesOnWhereItBroke() async throws {
    let server = ScriptedServer { request, connection in
      guard let range = request.fields["range"] else {
        connection.send("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: \(Self.picture.count)\r\n\r\n")
        connection.send(Self.picture.prefix(50_000))
        return false
      }
      let start = Int(range.dropFirst("bytes=".count).dropLast()) ?? 0
      guard request.fields["if-range"] == "\"1\"" else { return false }
      let last = Self.picture.count - 1
      connection.reply(
        206, ["ETag: \"1\"", "Content-Range: bytes \(start)-\(last)/\(last + 1)"], Array(Self.picture[start...]))
      return true
    }
    defer { server.stop() }
    let monitor = TestMonitor()
    let (reply, bytes) = try await Setup().fetch(server.url(), monitor)
    #expect(bytes == Self.picture && reply.bytesReceived == bytes.count && server.requests.count == 2)
    #expect(monitor.state.withLock { $0.restarts } == 0)
    #expect(server.requests.last?.fields["range"] == "bytes=50000-")
  }

  @Test func aSourceThatChangedMeanwhileIsFetchedAnew() async throws {
    let server = ScriptedServer { request, connection in
      if request.number == 0 {
        connection.send("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 90\r\n\r\n12345")
        return false
      }
      connection.reply(200, ["ETag: \"2\""], [7, 8])
      return true
    }
    defer { server.stop() }
    let monitor = TestMonitor()
    #expect(try await Setup().fetch(server.url(), monitor).1 == [7, 8])
    #expect(monitor.state.withLock { $0.restarts == 1 && $0.received.last == 2 })
  }

  @Test func anotherPartThanAskedForIsRefused() async throws {
    let server = ScriptedServer { request, connection in
      if request.number == 0 {
        connection.send("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 90\r\n\r\n12345")
        return false
      }
      connection.reply(206, ["Content-Range: bytes 0-89/90"], [UInt8](repeating: 1, count: 90))
      return true
    }
    defer { server.stop() }
    let error = try await Setup().failure(server.url())
    if case .badReply = error {} else { Issue.record("\(String(describing: error))") }
    let unasked = ScriptedServer { _, connection in
      connection.reply(206, ["Content-Range: bytes 5-6/7"], [1, 2])
      return true
    }
    defer { unasked.stop() }
    #expect(try await Setup().failure(unasked.url()) != nil)
  }

  @Test(arguments: [
    "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nabc",
    "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
    "HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\nabc", "not HTTP at all\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "",
    "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
    "HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\nabc",
    "HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\n\r\n",
    "HTTP/1.1 302 Found\r\nLocation: ftp://127.0.0.1/a\r\n\r\n",
    "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /a.jpg\r\n\r\n",
    LongText(
      "HTTP/1.1 200 OK\r\n" + String(repeating: "X-Filler: \(String(repeating: "y", count: 900))\r\n", count: 99)
        + "\r\nabc"),
  ])
  func aHostileAnswerIsOneFailure(answer: LongText) async throws {
    let server = ScriptedServer { _, connection in
      connection.send(answer.text)
      return answer.text.contains("Location: /")
    }
    defer { server.stop() }
    let error = try #require(try await Setup { $0.tries = 1 }.failure(server.url()))
    #expect(!"\(error)".isEmpty && !"\(error)".contains("\n"), "\(error)")
    #expect(error != .cancelled && server.requests.count <= 6)
  }

  @Test func anEndlessSourceFailsAtTheLimit() async throws {
    let server = ScriptedServer { _, connection in
      connection.send("HTTP/1.1 200 OK\r\n\r\n")
      while connection.send(Self.picture) {}
      return false
    }
    defer { server.stop() }
    let setup = try Setup { $0.largest = 1 << 20 }
    #expect(await setup.failure(server.url()) == .tooLarge(needed: nil, limit: 1 << 20))
    #expect(try await eventually { setup.spool.reserved == 0 })
  }

  /// libcurl reports an error after a pause only to the call that ends the pause, and would then go on without the bytes.
  @Test func theLimitHoldsForTheBytesAfterAPause() async throws {
    let server = ScriptedServer { _, connection in
      connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + String(repeating: "x", count: 100))
      return false
    }
    defer { server.stop() }
    let setup = try Setup { ($0.largest, $0.tries) = (50, 1) }
    let error = await #expect(throws: FetchError.self) {
      try await setup.fetch(server.url(), unless: Validators(entityTag: "\"0\""))
    }
    #expect(error == .tooLarge(needed: nil, limit: 50))
  }

  @Test(arguments: ["gzip", "gzip, chunked"])
  func aCompressedTransferIsRefused(encoding: String) async throws {
    let server = ScriptedServer { _, connection in
      connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: \(encoding)\r\nConnection: close\r\n\r\n\u{1f}")
      return false
    }
    defer { server.stop() }
    let failure = try await Setup { $0.tries = 1 }.failure(server.url())
    #expect(failure == .encoded("gzip"))
  }

  @Test func aSourceThatDripsIsLeft() async throws {
    let server = ScriptedServer { _, connection in
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n")
      while connection.send("x") { usleep(20_000) }
      return false
    }
    defer { server.stop() }
    let setup = try Setup { $0.wholeTimeout = .milliseconds(300) }
    #expect(await setup.failure(server.url()) == .timedOut(.milliseconds(300)))
    #expect(server.requests.count == 1)
  }

  @Test func aServerThatIsSilentIsLeft() async throws {
    let server = ScriptedServer { request, connection in
      if request.target == "/body" { connection.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n1") }
      connection.awaitEnd()
      return false
    }
    defer { server.stop() }
    let setup = try Setup { ($0.stallTimeout, $0.tries) = (.seconds(1), 1) }
    for target in ["/", "/body"] {
      #expect(await setup.failure(server.url(target)) == .stalled(.seconds(1)), "\(target)")
    }
  }

  @Test func aHostThatIsDownDoesNotHoldUpOthers() async throws {
    let server = ScriptedServer { _, connection in
      connection.reply(200, [], [1])
      return true
    }
    server.stop()
    let setup = try Setup { $0.tries = 1 }
    for _ in 0..<5 {
      let error = await setup.failure(server.url())
      if case .cannotConnect = error {} else { Issue.record("\(String(describing: error))") }
    }
    let error = await setup.failure(server.url())
    if case .hostDown("127.0.0.1:\(server.port)", _) = error {} else { Issue.record("\(String(describing: error))") }
  }
}
