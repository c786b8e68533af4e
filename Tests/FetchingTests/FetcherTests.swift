import Files
import Foundation
import Locking
import TestSupport
import Testing

@testable import Fetching

/// Follows a transfer in a test.
final class TestMonitor: FetchMonitor, Sendable {
  struct State {
    var stages: [FetchStage] = []
    var received: [Int] = []
    var restarts = 0
    var isCancelled = false
  }

  let state = Locked(State())
  private let enough: Int?
  private let isKnown: Bool

  init(enough: Int? = nil, isKnown: Bool = false) { (self.enough, self.isKnown) = (enough, isKnown) }

  var isCancelled: Bool { state.withLock { $0.isCancelled } }
  var stages: [FetchStage] { state.withLock { $0.stages } }

  func cancel() { state.withLock { $0.isCancelled = true } }
  func entered(_ stage: FetchStage) { state.withLock { $0.stages.append(stage) } }
  func needs(_ validators: Validators) -> Bool { !isKnown }

  func restarted() { state.withLock { $0.restarts += 1 } }

  func received(_ count: Int, of total: Int?) -> FetchVerdict {
    state.withLock { $0.received.append(count) }
    return enough.map { .enough($0) } ?? .goOn
  }
}

@Suite(.timeLimit(.minutes(2))) struct FetcherTests {
  /// A fetcher with its spool, for servers on loopback.
  struct Setup: Sendable {
    let fetcher: Fetcher
    let spool: Spool
    private let folder = TemporaryFolder()

    init(_ change: (inout FetchLimits) -> Void = { _ in }, spool bytes: Int = 64 << 20) throws {
      var limits = FetchLimits()
      limits.allowsPrivate = true
      limits.largest = 8 << 20
      change(&limits)
      fetcher = try Fetcher(limits, userAgent: "thumbjob/test")
      spool = Spool(folder: Path(folder.path), bytes: bytes)
    }

    /// Fetches on a thread of its own.
    func fetch(
      _ url: String, unless known: Validators? = nil, _ monitor: TestMonitor = TestMonitor()
    ) async throws -> (FetchReply, [UInt8]) {
      let url = try RemoteURL(parsing: url.utf8)
      return try await onThread {
        let file = try spool.file()
        var request = FetchRequest(.url(url))
        request.unless = known
        let reply = try fetcher.fetch(request, into: file, monitor: monitor)
        return (reply, try readAll(file.size + 1, from: file.descriptor, at: 0))
      }
    }

    /// The error with which a fetch fails.
    func failure(_ url: String, _ monitor: TestMonitor = TestMonitor()) async -> FetchError? {
      do { _ = try await fetch(url, monitor) } catch { return error as? FetchError }
      return nil
    }
  }

  static let picture = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 8) }

  @Test func aSourceIsFetchedAsItIs() async throws {
    let server = ScriptedServer { request, connection in
      connection.reply(200, ["ETag: \"1\"", "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"], Self.picture)
      return true
    }
    defer { server.stop() }
    let setup = try Setup()
    let (reply, bytes) = try await setup.fetch(server.url("/d/a%20b.jpg?x=1"))
    #expect(bytes == Self.picture && reply.outcome == .complete && reply.bytesReceived == bytes.count)
    #expect(reply.validators == Validators(entityTag: "\"1\"", lastModified: 784_111_777))
    let request = try #require(server.requests.first)
    #expect(request.target == "/d/a%20b.jpg?x=1" && request.fields["user-agent"] == "thumbjob/test")
    #expect(request.fields["accept-encoding"] == nil && request.fields["authorization"] == nil)
    // What was fetched is gone, and so is its place.
    #expect(try await eventually { setup.spool.reserved == 0 })
  }

  @Test func connectionsAreBoundedAndUsedAgain() async throws {
    let server = ScriptedServer { _, connection in
      connection.reply(200, [], Array(Self.picture.prefix(2000)))
      return true
    }
    defer { server.stop() }
    let setup = try Setup { $0.perHost = 3 }
    try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<40 {
        group.addTask { try await setup.fetch(server.url("/\(number)")).1.count }
      }
      for try await count in group { #expect(count == 2000) }
    }
    #expect(server.requests.count == 40 && server.connections.most <= 3 && server.connections.all < 20)
  }

  @Test func theSourcesOfAHostAreFetchedInOrder() async throws {
    let gate = Gate()
    let server = ScriptedServer { request, connection in
      if request.number == 0 { gate.pass() }
      connection.reply(200, [], [1])
      return true
    }
    defer { server.stop() }
    let setup = try Setup { $0.perHost = 1 }
    let monitors = (0..<8).map { _ in TestMonitor() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, monitor) in monitors.enumerated() {
        group.addTask { _ = try await setup.fetch(server.url("/\(number)"), monitor) }
        #expect(try await eventually { !monitor.stages.isEmpty })
      }
      #expect(monitors.dropFirst().allSatisfy { $0.stages == [.waitingForConnection] })
      gate.open()
      try await group.waitForAll()
    }
    #expect(server.requests.map(\.target) == (0..<8).map { "/\($0)" })
  }

  @Test func aProxyIsNotAskedForAPrivateAddress() {
    let rules = AllowedAddresses(allowsPrivate: false, environment: ["http_proxy": "http://127.0.0.9:3128"])
    for host in ["169.254.169.254", "[::1]", "0x7f.1", "2130706433", "[::ffff:10.0.0.1]"] {
      let url = try? RemoteURL(parsing: "http://\(host)/".utf8)
      #expect(url.flatMap { rules.refusal(of: $0) } != nil, "\(host)")
    }
    for host in ["9.9.9.9", "example.org", "[2606:4700::1111]"] {
      let url = try? RemoteURL(parsing: "http://\(host)/".utf8)
      #expect(url.map { rules.refusal(of: $0) } == .some(nil), "\(host)")
    }
  }

  @Test func aSourceThatHasNotChangedIsNotSent() async throws {
    let server = ScriptedServer { request, connection in
      if request.fields["if-modified-since"] == "Sun, 06 Nov 1994 08:49:37 GMT",
        request.fields["if-none-match"] == "\"1\""
      {
        connection.send("HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n")
      } else {
        connection.reply(200, ["ETag: \"2\""], Self.picture)
      }
      return true
    }
    defer { server.stop() }
    let setup = try Setup()
    let known = Validators(entityTag: "\"1\"", lastModified: 784_111_777)
    let (reply, bytes) = try await setup.fetch(server.url(), unless: known)
    #expect(reply.outcome == .unchanged && bytes.isEmpty && reply.validators.entityTag == "\"1\"")
    // A server that sends it all the same is asked no further once it tells what is known.
    let (again, rest) = try await setup.fetch(server.url(), unless: Validators(), TestMonitor(isKnown: true))
    #expect(again.outcome == .unchanged && rest.isEmpty)
    let (other, all) = try await setup.fetch(server.url(), unless: Validators())
    #expect(other.outcome == .complete && all == Self.picture)
  }

  @Test func aTransferEndsWhenThereIsEnough() async throws {
    let sent = LockedBox(0)
    let server = ScriptedServer { _, connection in
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 200000000\r\n\r\n")
      while connection.send(Self.picture) { sent.change { $0 += Self.picture.count } }
      return false
    }
    defer { server.stop() }
    let setup = try Setup({ $0.largest = 200_000_000 }, spool: 200_000_000)
    let (reply, bytes) = try await setup.fetch(server.url(), TestMonitor(enough: 1000))
    #expect(reply.outcome == .enough && bytes == Array(Self.picture.prefix(1000)) && reply.bytesReceived >= 1000)
    // What is not known to be needed is not read.
    #expect(reply.bytesReceived <= 64 << 10 + 16 << 10)
    #expect(sent.value < 100_000_000)
    // Bytes that have all arrived before anyone looked are cut as well.
    let small = ScriptedServer { _, connection in
      connection.reply(200, [], Self.picture)
      return true
    }
    defer { small.stop() }
    #expect(try await setup.fetch(small.url(), TestMonitor(enough: 1000)).1.count == 1000)
  }

  // MARK: Addresses

  @Test func anAddressThatIsNotPublicIsNotConnectedTo() async throws {
    let server = ScriptedServer { _, connection in
      connection.reply(200, [], [1])
      return true
    }
    defer { server.stop() }
    let setup = try Setup { ($0.allowsPrivate, $0.tries) = (false, 1) }
    for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0", "2130706433", "0x7f.1"] {
      let error = await setup.failure(server.url(host: host))
      if case .privateAddress = error {} else { Issue.record("\(host): \(String(describing: error))") }
    }
    #expect(server.connections.all == 0)
  }

  @Test func aPasswordGoesToItsHostOnly() async throws {
    let other = ScriptedServer { _, connection in
      connection.reply(200, [], [1])
      return true
    }
    defer { other.stop() }
    let first = ScriptedServer { request, connection in
      connection.reply(302, ["Location: \(other.url(host: "localhost"))"])
      return true
    }
    defer { first.stop() }
    let url = first.url().replacingOccurrences(of: "//", with: "//me:w%3Ard@")
    #expect(try await Setup().fetch(url).1 == [1])
    #expect(first.requests.first?.fields["authorization"] == "Basic " + Data("me:w:rd".utf8).base64EncodedString())
    #expect(other.requests.first?.fields["authorization"] == nil)
  }

  // MARK: Space and cancelling

  @Test func aTransferWaitsForSpaceAndPushesBack() async throws {
    let sent = LockedBox(0)
    let server = ScriptedServer { request, connection in
      let size = 30 << 20
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
      for _ in 0..<size >> 16 where connection.send([UInt8](repeating: 1, count: 1 << 16)) {
        if request.target == "/second" { sent.change { $0 += 1 << 16 } }
      }
      return true
    }
    defer { server.stop() }
    let setup = try Setup({ $0.largest = 32 << 20 }, spool: 40 << 20)
    let held = try setup.spool.file()
    let isHeld = held.reserve(20 << 20, grant: {})
    #expect(isHeld)
    let monitor = TestMonitor()
    async let second = setup.fetch(server.url("/second"), monitor).1.count
    #expect(try await eventually { monitor.stages.contains(.waitingForSpace) })
    // The buffers of the sockets take some megabytes.
    #expect(sent.value < 20 << 20)
    held.shrinkReservation()
    #expect(try await second == 30 << 20)
  }

  @Test func aSecondAnswerThatIsLongerReservesItsSpace() async throws {
    let server = ScriptedServer { request, connection in
      if request.number == 0 {
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n123")
        return false
      }
      connection.reply(200, [], [UInt8](repeating: 1, count: 1 << 20))
      return true
    }
    defer { server.stop() }
    let setup = try Setup()
    let url = try RemoteURL(parsing: server.url().utf8)
    let file = try setup.spool.file()
    _ = try await onThread { try setup.fetcher.fetch(FetchRequest(.url(url)), into: file, monitor: TestMonitor()) }
    #expect(file.size == 1 << 20 && setup.spool.reserved == 1 << 20)
  }

  private func reserve(_ bytes: Int, for file: SpoolFile) -> Bool { file.reserve(bytes, grant: {}) }

  @Test func reservationsAreGrantedInOrderAndNeverAddUpToMoreThanTheSpace() throws {
    let spool = Spool(folder: "/tmp", bytes: 100)
    var files = try (0..<4).map { _ in try spool.file() }
    let granted = LockedBox([Int]())
    let sizes = [60, 50, 10, 500]
    for (index, file) in files.enumerated() {
      let isThere = file.reserve(sizes[index], grant: { granted.change { $0.append(index) } })
      #expect(isThere == (index == 0))
    }
    #expect(spool.reserved == 60 && granted.value.isEmpty, "the third waits for the second, although it would fit")
    files.removeFirst()
    #expect(granted.value == [1, 2] && spool.reserved == 60)
    files.removeAll()
    #expect(spool.reserved == 0)
  }

  @Test func aFileThatWaitsAndIsReleasedWaitsNoMore() throws {
    let spool = Spool(folder: "/tmp", bytes: 100)
    let first = try spool.file()
    #expect(reserve(100, for: first))
    var second: SpoolFile? = try spool.file()
    #expect(second.map { reserve(10, for: $0) } == false)
    second = nil
    first.shrinkReservation()
    #expect(spool.reserved == 0)
    let third = try spool.file()
    #expect(reserve(1000, for: third) && spool.reserved == 100, "a giant is alone")
  }

  @Test(arguments: ["/silent", "/body", "/retry", "/space"])
  func aFetchIsCancelledAtEveryStage(target: String) async throws {
    let server = ScriptedServer { request, connection in
      switch request.target {
      case "/retry": connection.reply(503, ["Retry-After: 50"])
      case "/body", "/space": connection.send("HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n12345")
      default: break
      }
      if request.target != "/retry" { connection.awaitEnd() }
      return true
    }
    defer { server.stop() }
    let setup = try Setup(spool: 1 << 20)
    let held = try setup.spool.file()
    if target == "/space" { #expect(reserve(1 << 20, for: held)) }
    let monitor = TestMonitor()
    async let failure = setup.failure(server.url(target), monitor)
    let awaited: FetchStage =
      switch target {
      case "/body": .receiving
      case "/retry": .waitingToRetry
      case "/space": .waitingForSpace
      default: .connecting
      }
    #expect(try await eventually { monitor.stages.contains(awaited) && !server.requests.isEmpty })
    monitor.cancel()
    #expect(await failure == .cancelled)
  }

  @Test func theEndOfTheFetcherEndsEveryTransfer() async throws {
    let server = ScriptedServer { _, connection in
      connection.awaitEnd()
      return false
    }
    defer { server.stop() }
    let setup = try Setup()
    async let first = setup.failure(server.url())
    async let second = setup.failure(server.url())
    #expect(try await eventually { server.requests.count == 2 })
    setup.fetcher.shutDown()
    #expect(await first == .cancelled)
    #expect(await second == .cancelled)
    #expect(await setup.failure(server.url()) == .cancelled)
  }

  @Test func aFullDiskIsAFailureOfItsOwn() async throws {
    let server = ScriptedServer { _, connection in
      connection.reply(200, [], [UInt8](repeating: 1, count: 1 << 20))
      return true
    }
    defer { server.stop() }
    let setup = try Setup()
    let missing = Spool(folder: "/nowhere/at/all", bytes: 100)
    #expect(throws: FetchError.spool(.noSuchFileOrDirectory)) { try missing.file() }
    #expect(FetchError.spool(.noSpace).isFullDisk && !FetchError.spool(.ioError).isFullDisk)
    withExtendedLifetime(setup) {}
  }
}
