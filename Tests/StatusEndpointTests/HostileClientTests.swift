import Files
import Foundation
import TestSupport
import Testing

@testable import StatusEndpoint

/// Clients that send too much, too slowly, or invalid requests.
@Suite(.timeLimit(.minutes(5))) struct HostileClientTests {
  private static let hurried: EndpointLimits = {
    var limits = EndpointLimits()
    limits.requestSeconds = 1
    limits.stalledSeconds = 1
    return limits
  }()

  @Test func aHeaderOfAMegabyteIsRefused() async throws {
    let served = try await ServedRun.open()
    let address = served.endpoint.address
    for header in [
      "X: " + String(repeating: "x", count: 1 << 20), String(repeating: "a: b\r\n", count: 1 << 17),
      String(repeating: "y", count: 1 << 20),
    ] {
      let received = try await onThread {
        let client = try RawClient(address)
        client.send("POST /pause HTTP/1.1\r\nHost: localhost\r\n\(header)\r\n\r\n")
        return client.receive(until: "\r\n\r\n")
      }
      #expect(received.isEmpty || received.hasPrefix("HTTP/1.1 400"))
    }
    #expect(served.run.commands.value.isEmpty)
    #expect(try await served.ask("GET", "/status").status == 200)
  }

  @Test func aTargetOfAMegabyteIsRefused() async throws {
    let served = try await ServedRun.open()
    let address = served.endpoint.address
    let received = try await onThread {
      let client = try RawClient(address)
      client.send("GET /status?\(String(repeating: "x", count: 1 << 20)) HTTP/1.1\r\nHost: localhost\r\n\r\n")
      return client.receive(until: "\r\n\r\n")
    }
    #expect(!received.hasPrefix("HTTP/1.1 200"))
    #expect(try await served.ask("GET", "/healthz").status == 200)
  }

  @Test func aBodyOverTheLimitIsRefusedByItsHeaderAndByItsBytes() async throws {
    let served = try await ServedRun.open()
    let address = served.endpoint.address
    let large = "{\"max\":3" + String(repeating: " ", count: EndpointLimits().bodyBytes) + "}"
    let json = ["Content-Type": "application/json"]
    #expect(try await served.ask("PATCH", "/limits", headers: json, body: large).status == 413)
    let chunked = try await onThread {
      let client = try RawClient(address)
      client.send("PATCH /limits HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n")
      client.send("Transfer-Encoding: chunked\r\n\r\n")
      let size = String(large.utf8.count, radix: 16)
      client.send("\(size)\r\n\(large)\r\n0\r\n\r\n")
      return try client.answer()
    }
    #expect(chunked.status == 413)
    #expect(served.run.commands.value.isEmpty)
  }

  @Test(arguments: ["\0\u{1}\u{2}\r\n\r\n", "GET\r\n\r\n", "GET /status\r\n\r\n", "SSH-2.0-OpenSSH_9\r\n\r\n"])
  func invalidRequestsAreRefused(text: String) async throws {
    let served = try await ServedRun.open()
    let address = served.endpoint.address
    let received = try await onThread {
      let client = try RawClient(address)
      client.send(text)
      return client.receive(until: "\r\n\r\n")
    }
    #expect(received.isEmpty || received.hasPrefix("HTTP/1.1 4"))
    #expect(try await served.ask("GET", "/healthz").status == 200)
  }

  /// Runs in its own process, to measure memory.
  @Test func manySlowClientsAreTimedOutWhileOthersAreAnswered() async throws {
    await #expect(processExitsWith: .success) {
      // Each takes a file here, and may take one of the server's.
      let count = min(200, sysconf(CInt(_SC_OPEN_MAX)) / 3)
      let served = try await ServedRun.open(limits: Self.hurried)
      let address = served.endpoint.address
      let before = try #require(ProcessStatus()?.memory).resident
      let clients = try await onThread {
        let clients = try (0..<count).map { number in
          let client = try RawClient(address)
          if number % 2 == 1 {
            client.send("PATCH /limits HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n")
            client.send("Content-Length: 1000\r\n\r\n")
          }
          return client
        }
        // A byte each tenth of a second: an idle timeout alone would not notice.
        let deadline = ContinuousClock.now + .seconds(2.5)
        while ContinuousClock.now < deadline {
          for client in clients { client.send("G") }
          // Throws if the slow clients prevent an answer.
          _ = try StatusClient(address, timeout: .seconds(20)).status()
          usleep(100_000)
        }
        return clients
      }
      for client in clients { try #require(try await onThread { client.isClosed(within: 45) }) }
      // The thread sanitizer uses several bytes for each byte that is touched.
      let after = try #require(ProcessStatus()?.memory).resident
      try #require(after - before < (Self.isSanitized ? 512 : 64) << 20)
    }
  }

  @Test func aNewConnectionReplacesTheOneThatWaitedLongest() async throws {
    var limits = EndpointLimits()
    limits.connections = 8
    // Longer than the test waits, so that only its place in the line can close a connection.
    limits.requestSeconds = 120
    let served = try await ServedRun.open(limits: limits)
    let address = served.endpoint.address
    let stream = try await onThread {
      let client = try RawClient(address)
      client.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
      _ = client.receive(until: "event: counters")
      return client
    }
    let holders = try await onThread { try (0..<20).map { _ in try RawClient(address) } }
    #expect(try await served.ask("GET", "/status").status == 200)
    #expect(try await onThread { holders[0].isClosed(within: 45) })
    #expect(try await onThread { !stream.isClosed(within: 0.3) })
    withExtendedLifetime(holders) {}
  }

  @Test func anIdleConnectionIsKeptForAWhileAndThenClosed() async throws {
    var limits = EndpointLimits()
    limits.requestSeconds = 4
    let served = try await ServedRun.open(limits: limits)
    let address = served.endpoint.address
    let isClosed = try await onThread {
      let client = try RawClient(address)
      for _ in 0..<3 {
        client.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(try client.answer().status == 200)
        // The sum is above the limit and each pause far below it, so that a busy machine may be late.
        usleep(1_400_000)
      }
      return client.isClosed(within: 45)
    }
    #expect(isClosed)
  }

  @Test func aClientWithAThousandRequestsDoesNotBlockOthers() async throws {
    let served = try await ServedRun.open(run: FakeRun(more: 300))
    let address = served.endpoint.address
    // Under the thread sanitizer a long list takes seconds, and delays the others as well.
    let limit = Self.isSanitized ? 5 : 250
    let request = "GET /operations?state=waiting,running&limit=\(limit) HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for _ in 0..<4 {
      let client = try await onThread { try RawClient(address) }
      // Reads everything until the connection is closed.
      Thread.detachNewThread {
        _ = client.sendWithoutWaiting(String(repeating: request, count: 300))
        _ = client.isClosed(within: 60)
      }
    }
    for _ in 0..<5 { #expect(try await served.ask("GET", "/healthz").status == 200) }
    let start = ContinuousClock.now
    try await onThread { served.endpoint.close() }
    #expect(.now - start < EndpointTests.limit)
  }

  @Test func aClientThatNeverReadsIsClosed() async throws {
    let served = try await ServedRun.open(limits: Self.hurried)
    let address = served.endpoint.address
    let client = try await onThread { try RawClient(address) }
    // Far more answers than the buffers of both sides hold: long ones that are cheap to create.
    let asked = String(repeating: "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n", count: 100)
    #expect(try await eventually { !client.sendWithoutWaiting(asked) })
    #expect(try await served.ask("GET", "/healthz").status == 200)
  }

  private static let isSanitized = dlsym(UnsafeMutableRawPointer(bitPattern: 0), "__tsan_init") != nil
}
