import Foundation
import TestSupport
import Testing

@testable import StatusEndpoint

/// Opening and closing the endpoint, with clients in every state.
@Suite(.timeLimit(.minutes(5))) struct EndpointTests {
  /// A second, plus time for sanitizers and a busy machine.
  static let limit = Duration.seconds(45)

  /// The time that closing takes.
  private func closing(_ served: ServedRun) async throws -> Duration {
    let start = ContinuousClock.now
    try await onThread { served.endpoint.close() }
    return .now - start
  }

  @Test func offOpensNoEndpoint() throws {
    let run = FakeRun()
    #expect(try StatusEndpoint.open(.off, dataSource: run, control: run) == nil)
  }

  @Test func aPortOfZeroIsReportedAsTheRealOne() async throws {
    let served = try await ServedRun.open(.tcp)
    guard case .tcp("127.0.0.1", let port) = served.endpoint.address else {
      Issue.record("\(served.endpoint.address)")
      return
    }
    #expect(port > 0)
    #expect(served.endpoint.pageLink(withToken: true) == "http://127.0.0.1:\(port)/#token=\(ServedRun.token.text)")
    #expect(served.endpoint.pageLink(withToken: false) == "http://127.0.0.1:\(port)/")
    #expect(try await served.ask("GET", "/healthz").status == 200)
  }

  @Test func anAddressInUseIsRefusedWithItsPlaceAndReason() async throws {
    let (served, run) = (try await ServedRun.open(.tcp), FakeRun())
    let error = #expect(throws: StatusEndpointError.self) {
      try StatusEndpoint.open(served.endpoint.address, dataSource: run, control: run)
    }
    #expect(error?.description == "status endpoint: \(served.endpoint.address): is in use by another process")
    #expect(error?.place == "\(served.endpoint.address)" && error?.reason == "is in use by another process")
  }

  @Test func anAddressOfAnotherMachineIsRefused() {
    let run = FakeRun()
    for host in ["192.0.2.1", "no.such.host.invalid"] {
      #expect(throws: StatusEndpointError.self) {
        try StatusEndpoint.open(.tcp(host: host, port: 0), dataSource: run, control: run)
      }
    }
  }

  @Test func closingFromManyThreadsIsSafe() async throws {
    let served = try await ServedRun.open()
    await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 { group.addTask { try await onThread { served.endpoint.close() } } }
    }
    #expect(throws: (any Error).self) { try RawClient(served.endpoint.address) }
  }

  /// An endpoint whose server is not started yet.
  private func waiting(in folder: TemporaryFolder) throws -> StatusEndpoint {
    let run = FakeRun()
    let path = folder("s.sock")
    return try #require(try StatusEndpoint.open(.unix(path), dataSource: run, control: run, startsLater: true))
  }

  @Test func theFirstClientStartsTheServer() async throws {
    let folder = TemporaryFolder()
    let endpoint = try waiting(in: folder)
    async let started: Void = onThread { try endpoint.startWhenAsked(within: .seconds(1 << 33)) }
    let answer = try await onThread {
      let client = try RawClient(endpoint.address)
      client.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
      return try client.answer()
    }
    try await started
    #expect(answer.status == 200)
    try await onThread { endpoint.close() }
  }

  @Test func theServerStartsAfterSomeTime() async throws {
    let folder = TemporaryFolder()
    let endpoint = try waiting(in: folder)
    try await onThread { try endpoint.startWhenAsked(within: .milliseconds(1)) }
    let answer = try await onThread {
      let client = try RawClient(endpoint.address)
      client.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
      return try client.answer()
    }
    #expect(answer.status == 200)
    try await onThread { endpoint.close() }
  }

  /// It does not wait for a client, which may never come.
  @Test func closingEndsTheWaitForAClient() async throws {
    let folder = TemporaryFolder()
    let endpoint = try waiting(in: folder)
    async let started: Void = onThread { try endpoint.startWhenAsked(within: .seconds(1 << 33)) }
    try await onThread { endpoint.close() }
    try await started
    #expect(throws: (any Error).self) { try RawClient(endpoint.address) }
    // Nothing is left to close, so this closes no other file of the process.
    let other = Pipe()
    try await onThread { endpoint.close() }
    #expect(fcntl(other.fileHandleForReading.fileDescriptor, F_GETFD) >= 0)
  }

  @Test func thePortIsFreeAfterClosing() async throws {
    let served = try await ServedRun.open(.tcp)
    _ = try await served.ask("GET", "/healthz")
    try await onThread { served.endpoint.close() }
    let run = FakeRun()
    let again = try StatusEndpoint.open(served.endpoint.address, dataSource: run, control: run)
    again?.close()
  }

  @Test func closingEndsOpenStreamsWithAFinalStatus() async throws {
    let served = try await ServedRun.open()
    let address = served.endpoint.address
    let client = try await onThread {
      let client = try RawClient(address)
      client.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
      #expect(client.receive(until: "event: counters").contains("text/event-stream"))
      return client
    }
    served.run.state.change { $0 = .finished }
    #expect(try await closing(served) < Self.limit)
    let last = try await onThread { client.receive(until: "\"state\":\"finished\"", within: 45) }
    #expect(last.contains("\"state\":\"finished\""))
    #expect(last.contains("\"outcome\":{\"cause\":\"time\",\"exit_status\":75,\"result\":\"stopped\""))
    #expect(try await onThread { client.isClosed(within: 45) })
  }

  @Test func closingDoesNotWaitForClientsThatHang() async throws {
    // Longer than the limit of the test, so that the endpoint does not close these clients anyway.
    var limits = EndpointLimits()
    (limits.requestSeconds, limits.stalledSeconds) = (120, 120)
    let served = try await ServedRun.open(run: FakeRun(more: 50), limits: limits)
    let address = served.endpoint.address
    let clients = try await onThread {
      try ["", "GET /status HT", "POST /pause HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n"].map { text in
        let client = try RawClient(address)
        client.send(text)
        return client
      }
    }
    // A client that sends many requests and never reads.
    let greedy = try await onThread {
      let client = try RawClient(address)
      client.send(String(repeating: "GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n", count: 200))
      return client
    }
    #expect(try await served.ask("GET", "/healthz").status == 200)
    #expect(try await closing(served) < Self.limit)
    for client in clients + [greedy] { #expect(try await onThread { client.isClosed(within: 45) }) }
  }

  @Test func aChildProcessDoesNotInheritTheListeningSocket() async throws {
    let served = try await ServedRun.open(.tcp)
    let address = served.endpoint.address
    let files = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { CInt($0) }
    let sockets = files.filter { file in
      var status = stat()
      return fstat(file, &status) == 0 && status.isKind(mode_t(S_IFSOCK))
    }
    let bound = sockets.filter { Self.port(of: $0) == Self.port(address) }
    #expect(bound.count == 1)
    for file in bound { #expect(fcntl(file, F_GETFD) & FD_CLOEXEC != 0) }
  }

  private static func port(_ address: StatusAddress) -> Int? {
    if case .tcp(_, let port) = address { port } else { nil }
  }

  private static func port(of file: CInt) -> Int? {
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    return withUnsafeMutablePointer(to: &address) { address in
      let status = address.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(file, $0, &size) }
      guard status == 0, address.pointee.sin_family == sa_family_t(AF_INET) else { return nil }
      return Int(UInt16(bigEndian: address.pointee.sin_port))
    }
  }

  @Test func theEndpointAnswersWhileAllPoolThreadsAreBusy() async throws {
    let served = try await ServedRun.open()
    let address = served.endpoint.address
    let gate = Gate()
    // Far more blocks than the pools of these qualities have threads; Swift's tasks use them too.
    for quality in [DispatchQoS.QoSClass.utility, .default, .userInitiated] {
      for _ in 0..<64 { DispatchQueue.global(qos: quality).async { gate.pass() } }
    }
    let answers = try await onThread {
      defer { gate.open() }  // opened here, because nothing else can run before
      gate.awaitArrivals(6)
      return try (0..<20).map { _ in try StatusClient(address, timeout: .seconds(45)).status().pid }
    }
    #expect(answers == Array(repeating: 42, count: 20))
  }
}
