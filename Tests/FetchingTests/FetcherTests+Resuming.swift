import TestSupport
import Testing

@testable import Fetching

// Resuming: what the answer to a request for the rest of a source may be.
extension FetcherTests {
  /// A server that breaks off after "12345" of each whole source, and answers requests for a part as the script says.
  private static func breaking(
    _ fields: String = "Content-Length: 90", part script: @escaping @Sendable (Int, ScriptedServer.Connection) -> Bool
  ) -> ScriptedServer {
    ScriptedServer { request, connection in
      if let range = request.fields["range"] {
        return script(Int(range.dropFirst("bytes=".count).dropLast()) ?? 0, connection)
      }
      if request.number == 0 {
        let body = fields.contains("chunked") ? "5\r\n12345\r\n" : "12345"
        let known = "ETag: \"1\"\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT"
        connection.send("HTTP/1.1 200 OK\r\n\(known)\r\n\(fields)\r\n\r\n\(body)")
        return false
      }
      connection.reply(200, ["ETag: \"2\""], [7, 8])
      return true
    }
  }

  @Test func aSourceThatBrokeAfterItsLastByteIsWhole() async throws {
    let server = Self.breaking("Transfer-Encoding: chunked") { start, connection in
      connection.reply(416, ["ETag: \"1\"", "Content-Range: bytes */\(start)"])
      return true
    }
    defer { server.stop() }
    let (reply, bytes) = try await Setup().fetch(server.url())
    #expect(bytes == Array("12345".utf8) && reply.outcome == .complete && server.requests.count == 2)
    #expect(reply.validators == Validators(entityTag: "\"1\"", lastModified: 784_111_777))
  }

  /// Another version may be as long as what is there of the first one.
  @Test(arguments: [
    ["Content-Range: bytes */4"], ["Content-Range: bytes */*"], ["X: y"], ["Content-Range: bytes */5"],
    ["ETag: \"1\"", "Content-Range: bytes */5"],
  ])
  func aSourceThatLacksTheRestIsFetchedAnew(fields: [String]) async throws {
    let length = fields.count > 1 ? "Content-Length: 90" : "Transfer-Encoding: chunked"
    let server = Self.breaking(length) { _, connection in
      connection.reply(416, fields)
      return true
    }
    defer { server.stop() }
    let monitor = TestMonitor()
    #expect(try await Setup().fetch(server.url(), monitor).1 == [7, 8])
    #expect(server.requests.count == 3 && monitor.state.withLock { $0.restarts } == 1)
    #expect(monitor.stages.filter { $0 == .waitingToRetry }.count == 1, "the server is well, so it is asked at once")
  }

  /// Of a server that sends a part although it was asked for one of the first version only.
  @Test(arguments: [
    ["ETag: \"2\"", "Content-Range: bytes 5-89/90"], ["ETag: \"1\"", "Content-Range: bytes 5-89/91"],
    ["ETag: \"1\"", "Content-Range: bytes 5-89/*", "Last-Modified: Sun, 06 Nov 1994 08:49:38 GMT"],
    // It must repeat the tag.
    ["Content-Range: bytes 5-89/90"], ["ETag: W/\"1\"", "Content-Range: bytes 5-89/90"],
  ])
  func aPartOfAnotherVersionIsNotAddedToThisOne(fields: [String]) async throws {
    let server = Self.breaking { start, connection in
      connection.reply(206, fields, [UInt8](repeating: 1, count: 85))
      return true
    }
    defer { server.stop() }
    let (reply, bytes) = try await Setup().fetch(server.url())
    #expect(bytes == [7, 8] && reply.validators == Validators(entityTag: "\"2\""))
  }

  /// Without any length, it may be shorter than the rest.
  @Test func aPartOfASourceOfUnknownLengthIsNotTakenForTheRest() async throws {
    let server = Self.breaking("Transfer-Encoding: chunked") { start, connection in
      connection.reply(206, ["ETag: \"1\"", "Content-Range: bytes 5-6/*"], [6, 7])
      return true
    }
    defer { server.stop() }
    #expect(try await Setup().fetch(server.url()).1 == [7, 8])
  }

  /// What a header tells that breaks off is not believed, and the next try goes on with what is there.
  @Test(arguments: [
    "HTTP/1.1 200 OK\r\nETag: \"2\"\r\nContent-Length: 4\r\n", "HTTP/1.1 206 Partial\r\nETag: \"2\"\r\n",
    "HTTP/1.1 304 Not Modified\r\n", "HTTP/1.1 404 Not Found\r\n", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 2",
    "HTTP/1.1 100 Continue\r\n\r\n",
  ])
  func anAnswerThatBreaksOffInItsHeaderIsNone(header: String) async throws {
    let isFirst = LockedBox(true)
    let server = Self.breaking("Content-Length: 7") { start, connection in
      if isFirst.change({ isFirst in
        defer { isFirst = false }
        return isFirst
      }) {
        connection.send(header)
        return false
      }
      connection.reply(206, ["ETag: \"1\"", "Content-Range: bytes \(start)-6/7"], Array("67".utf8))
      return true
    }
    defer { server.stop() }
    let (reply, bytes) = try await Setup().fetch(server.url())
    #expect(bytes == Array("1234567".utf8) && reply.validators.entityTag == "\"1\"")
    #expect(server.requests.count == 3)
  }

  @Test func anAnswerWithoutAPartLosesNoBytes() async throws {
    let isBusy = LockedBox(true)
    let server = Self.breaking("Content-Length: 7") { start, connection in
      if isBusy.change({ isBusy in
        defer { isBusy = false }
        return isBusy
      }) {
        connection.reply(503, ["Connection: close"])
        return false
      }
      connection.reply(206, ["ETag: \"1\"", "Content-Range: bytes \(start)-6/7"], Array("67".utf8))
      return true
    }
    defer { server.stop() }
    let (reply, bytes) = try await Setup().fetch(server.url())
    #expect(bytes == Array("1234567".utf8) && reply.bytesReceived == 7)
    // A server need not repeat the time.
    #expect(reply.validators == Validators(entityTag: "\"1\"", lastModified: 784_111_777))
  }

  /// The parts are at most three bytes, of a source of ten, and end with the connection.
  @Test func aPartOfUnknownTotalIsNotTakenForMoreThanItIs() async throws {
    let source = Array("1234567890".utf8)
    let server = Self.breaking("Content-Length: 10") { start, connection in
      connection.send("HTTP/1.1 206 Partial\r\nETag: \"1\"\r\nConnection: close\r\n")
      connection.send("Content-Range: bytes \(start)-9/*\r\n\r\n")
      connection.send(source[start...].prefix(3))
      return false
    }
    defer { server.stop() }
    #expect(try await Setup().fetch(server.url()).1 == source)
    #expect(server.requests.map { $0.fields["range"] } == [nil, "bytes=5-", "bytes=8-"])
  }

  @Test func aPartOfUnknownTotalIsNotWholeBeforeItsSourceIs() async throws {
    let source = Array("1234567890".utf8)
    let server = Self.breaking("Content-Length: 10") { start, connection in
      let part = source[start...].prefix(3)
      connection.reply(206, ["ETag: \"1\"", "Content-Range: bytes \(start)-\(part.endIndex - 1)/*"], Array(part))
      return true
    }
    defer { server.stop() }
    #expect(try await Setup().fetch(server.url()).1 == source)
  }

  @Test func aPartThatIsLongerThanItSaysIsRefused() async throws {
    let server = Self.breaking { start, connection in
      connection.send("HTTP/1.1 206 Partial\r\nETag: \"1\"\r\nContent-Range: bytes \(start)-6/*\r\n")
      connection.send("Connection: close\r\n\r\n678")
      return false
    }
    defer { server.stop() }
    #expect(try await Setup().failure(server.url()) == .badReply("it is longer than it says"))
  }
}
