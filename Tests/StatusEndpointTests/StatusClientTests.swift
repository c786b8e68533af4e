import Foundation
import TestSupport
import Testing

@testable import StatusEndpoint

@Suite(.timeLimit(.minutes(5))) struct StatusClientTests {
  @Test(arguments: [ServedRun.Place.file, .tcp]) func everyCallOfTheClientIsAnswered(place: ServedRun.Place)
    async throws
  {
    let served = try await ServedRun.open(place)
    let client = served.client
    try await onThread {
      #expect(try client.status() == served.run.status(listing: 100))
      #expect(try client.operations(OperationQuery(states: [.failed])).operations.map(\.id) == [2])
      #expect(try client.operation(3) == FakeRun.running)
      #expect(try client.cancel(4) == CancelledCount(waiting: 1, running: 0))
      try client.pause()
      try client.resume()
      #expect(try client.change(LimitsChange(max: 3)).max == 3)
      #expect(try client.cancelAll() == CancelledCount(waiting: 1, running: 1))
    }
    #expect(served.run.commands.value == [.cancel(4), .pause, .resume, .change(LimitsChange(max: 3)), .cancelAll])
  }

  @Test func aRefusalGivesTheReason() async throws {
    let served = try await ServedRun.open(.tcp)
    let (client, stranger) = (served.client, StatusClient(served.endpoint.address))
    try await onThread {
      let gone = #expect(throws: StatusClientError.self) { try client.cancel(1) }
      #expect(gone?.kind == .refused(status: 409) && gone?.reason == "operation 1 has ended already")
      let unknown = #expect(throws: StatusClientError.self) { try client.operation(99) }
      #expect(unknown?.kind == .refused(status: 404))
      let refused = #expect(throws: StatusClientError.self) { try stranger.pause() }
      #expect(refused?.kind == .refused(status: 401))
    }
  }

  @Test func anAddressWithoutAListenerIsReportedAsNotRunning() async throws {
    let folder = TemporaryFolder()
    let socket = try ListeningSocket.tcp("127.0.0.1", 0)
    close(socket.descriptor)
    try await onThread {
      for address in [StatusAddress.unix(folder("none")), socket.address, .off] {
        let error = #expect(throws: StatusClientError.self) { try StatusClient(address).status() }
        #expect(error?.kind == .notRunning)
      }
    }
  }

  @Test func aCallWithoutAnAnswerTimesOut() async throws {
    let folder = TemporaryFolder()
    let socket = try ListeningSocket.unix(folder("mute"))
    defer { close(socket.descriptor) }
    try await onThread {
      let start = ContinuousClock.now
      let client = StatusClient(socket.address, timeout: .milliseconds(200))
      let error = #expect(throws: StatusClientError.self) { try client.status() }
      #expect(error?.kind == .timedOut)
      #expect((.milliseconds(200)...(.seconds(45))).contains(.now - start))
    }
  }

  @Test func aFullBacklogIsWaitedForUntilTheTimeout() async throws {
    let folder = TemporaryFolder()
    let socket = try ListeningSocket.unix(folder("full"))
    defer { close(socket.descriptor) }
    try #require(listen(socket.descriptor, 0) == 0)
    try await onThread {
      let first = try RawClient(socket.address)
      let client = StatusClient(socket.address, timeout: .milliseconds(200))
      let error = #expect(throws: StatusClientError.self) { try client.status() }
      #expect(error?.kind == .timedOut)
      withExtendedLifetime(first) {}
    }
  }

  @Test func aNameIsResolvedAndEachOfItsAddressesTried() async throws {
    let served = try await ServedRun.open(.tcp)
    guard case .tcp(_, let port) = served.endpoint.address else {
      Issue.record("\(served.endpoint.address)")
      return
    }
    try await onThread {
      let status = try StatusClient(.tcp(host: "localhost", port: port)).status()
      #expect(status.pid == 42)
      let error = #expect(throws: StatusClientError.self) {
        try StatusClient(.tcp(host: "no.such.host.invalid", port: port)).status()
      }
      // Some name servers do not answer at all.
      let isUnknown = error?.kind == .connection && error?.reason.hasPrefix("no such host: ") == true
      #expect(isUnknown || error?.kind == .timedOut)
    }
  }

  @Test func anEndlessAnswerIsRefused() async throws {
    let folder = TemporaryFolder()
    let socket = try ListeningSocket.unix(folder("endless"))
    defer { close(socket.descriptor) }
    Thread.detachNewThread {
      let connection = accept(socket.descriptor, nil, nil)
      let bytes = Array("HTTP/1.1 200 OK\r\n\r\n".utf8) + [UInt8](repeating: 0x20, count: 1 << 16)
      while send(connection, bytes, bytes.count, CInt(MSG_NOSIGNAL)) > 0 {}
      close(connection)
    }
    try await onThread {
      let client = StatusClient(socket.address, timeout: .seconds(45))
      let error = #expect(throws: StatusClientError.self) { try client.status() }
      #expect(error?.kind == .garbled && error?.reason == "the answer does not end")
    }
  }

  @Test(arguments: [
    ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", StatusClientError.Kind.garbled),
    ("HTTP/1.1 200 OK\r\n\r\nhello", .garbled), ("SSH-2.0-OpenSSH_9\r\n", .garbled), ("", .connection),
    ("HTTP/1.1 200 OK\r\nContent-Length: 200\r\n\r\n{}", .garbled), ("HTTP/1.1 500 X\r\n\r\n", .refused(status: 500)),
  ])
  func answersOfOtherProgramsAreErrors(answer: String, kind: StatusClientError.Kind) async throws {
    let folder = TemporaryFolder()
    let socket = try ListeningSocket.unix(folder("other"))
    defer { close(socket.descriptor) }
    Thread.detachNewThread {
      let connection = accept(socket.descriptor, nil, nil)
      var buffer = [UInt8](repeating: 0, count: 4096)
      _ = read(connection, &buffer, buffer.count)
      _ = send(connection, answer, answer.utf8.count, CInt(MSG_NOSIGNAL))
      close(connection)
    }
    try await onThread {
      let error = #expect(throws: StatusClientError.self) { try StatusClient(socket.address).status() }
      #expect(error?.kind == kind)
    }
  }
}
