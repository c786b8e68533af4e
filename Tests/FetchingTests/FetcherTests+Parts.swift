import Files
import Foundation
import TestSupport
import Testing

@testable import Fetching

/// Needs parts of a source.
struct PartsMonitor: FetchMonitor {
  private let seen = LockedBox((received: [Int](), held: [RangeSet<Int>](), restarts: 0))
  /// What is missing, of all that was asked for so far; nil for everything.
  let missing: @Sendable (_ held: RangeSet<Int>) -> RangeSet<Int>?

  init(_ missing: @escaping @Sendable (_ held: RangeSet<Int>) -> RangeSet<Int>?) { self.missing = missing }

  /// Needs these ranges, and learns of each when the one before is there, as from a chain of directories.
  init(chain: [Range<Int>]) {
    self.init { held in
      RangeSet(chain.first { !held.isSuperset(of: RangeSet($0)) } ?? 0..<0).subtracting(held)
    }
  }

  var restarts: Int { seen.value.restarts }
  var isCancelled: Bool { false }
  func entered(_ stage: FetchStage) {}
  func needs(_ validators: Validators) -> Bool { true }
  func restarted() { seen.change { $0.restarts += 1 } }
  func received(_ count: Int, of total: Int?) -> FetchVerdict {
    seen.change { $0.received.append(count) }
    return missing(RangeSet(0..<count)).map { .parts($0) } ?? .all
  }
  func missing(having held: RangeSet<Int>, of total: Int) -> RangeSet<Int>? {
    seen.change { $0.held.append(held) }
    return missing(held)
  }
}

// Parts: what is needed of a source is asked for piece by piece, and parts of two versions are never mixed.
extension FetcherTests {
  static let large = (0..<4_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 8 ^ $0 >> 16) }

  /// Answers as nginx does.
  static func serve(
    _ request: ScriptedServer.Request, _ connection: ScriptedServer.Connection, _ body: [UInt8] = large,
    tag: String = "\"1\"", more: [String] = []
  ) {
    let fields = ["Accept-Ranges: bytes", "ETag: \(tag)"] + more
    guard let range = range(of: request), request.fields["if-range"] ?? tag == tag else {
      return connection.reply(200, fields, body)
    }
    guard range.lowerBound < body.count else { return connection.reply(416) }
    let part = range.clamped(to: 0..<body.count)
    connection.reply(
      206, fields + ["Content-Range: bytes \(part.lowerBound)-\(part.upperBound - 1)/\(body.count)"], Array(body[part]))
  }

  static func range(of request: ScriptedServer.Request) -> Range<Int>? {
    guard let text = request.fields["range"]?.dropFirst("bytes=".count) else { return nil }
    let ends = text.split(separator: "-").map { Int($0) ?? 0 }
    return ends.count == 2 ? ends[0]..<ends[1] + 1 : ends[0]..<Int.max
  }

  private static func isRight(_ fetched: [UInt8], _ outcome: FetchReply.Outcome, _ body: [UInt8] = large) -> Bool {
    switch outcome {
    case .complete: fetched == body
    case .parts(let held, let total):
      total == body.count && held.ranges.allSatisfy { fetched[$0].elementsEqual(body[$0]) }
    default: false
    }
  }

  /// Fetches parts, and reads the file with its gaps.
  private func fetch(
    _ server: ScriptedServer, _ monitor: PartsMonitor, beginning: Int? = 64 << 10, _ setup: Setup? = nil
  ) async throws -> (FetchReply, [UInt8], reserved: Int) {
    let setup = try setup ?? Setup()
    var request = FetchRequest(.url(try RemoteURL(parsing: server.url().utf8)))
    request.beginning = beginning
    let asked = request
    return try await onThread {
      let file = try setup.spool.file()
      let reply = try setup.fetcher.fetch(asked, into: file, monitor: monitor)
      return (reply, try readAll(Self.large.count + 1, from: file.descriptor, at: 0), setup.spool.reserved)
    }
  }

  private static func held(_ reply: FetchReply) -> RangeSet<Int> {
    if case .parts(let held, _) = reply.outcome { held } else { RangeSet() }
  }

  @Test func onlyTheNeededPartsAreAskedFor() async throws {
    let server = ScriptedServer(Self.served)
    defer { server.stop() }
    let monitor = PartsMonitor(chain: [0..<60_000, 2_000_000..<2_100_000, 1_000_000..<1_000_010, 3_999_990..<4_000_000])
    let (reply, bytes, reserved) = try await fetch(server, monitor)
    #expect(Self.isRight(bytes, reply.outcome))
    let asked = server.requests.map { $0.fields["range"] ?? "" }
    #expect(
      asked == [
        "bytes=0-65535", "bytes=2000000-2099999", "bytes=1000000-1065535", "bytes=3999990-3999999",
      ])
    #expect(server.requests.dropFirst().allSatisfy { $0.fields["if-range"] == "\"1\"" })
    #expect(server.connections.all == 1, "each answer ends, so that its connection is used again")
    #expect(reply.bytesReceived == 65_536 * 2 + 100_010 && reserved == reply.bytesReceived)
    #expect(Self.held(reply).byteCount == reply.bytesReceived)
    #expect(reply.validators.entityTag == "\"1\"")
  }

  @Test func aTransferFromTheBeginningEndsForParts() async throws {
    let server = ScriptedServer(Self.served)
    defer { server.stop() }
    let monitor = PartsMonitor(chain: [0..<50_000, 3_000_000..<3_100_000])
    let (reply, bytes, reserved) = try await fetch(server, monitor, beginning: nil)
    #expect(Self.isRight(bytes, reply.outcome) && Self.held(reply).contains(3_099_999))
    #expect(server.requests.map { $0.fields["range"] } == [nil, "bytes=3000000-3099999"])
    #expect(reply.bytesReceived < 400_000 && reserved == Self.held(reply).byteCount)
  }

  @Test func whatIsNearIsWaitedFor() async throws {
    let server = ScriptedServer(Self.served)
    defer { server.stop() }
    let monitor = PartsMonitor(chain: [0..<50_000, 200_000..<300_000])
    let (reply, bytes, _) = try await fetch(server, monitor, beginning: nil)
    #expect(Self.isRight(bytes, reply.outcome) && Self.held(reply).contains(299_999))
    #expect(server.requests.count == 1 && reply.bytesReceived < 600_000)
  }

  @Test(arguments: [64 << 10, nil])
  func aServerWithoutRangesSendsAll(beginning: Int?) async throws {
    let server = ScriptedServer { _, connection in
      connection.reply(200, ["ETag: \"1\""], Self.large)
      return true
    }
    defer { server.stop() }
    let (reply, bytes, _) = try await fetch(server, PartsMonitor(chain: [3_000_000..<3_000_100]), beginning: beginning)
    #expect(reply.outcome == .complete && bytes == Self.large && server.requests.count == 1)
  }

  @Test(arguments: ["W/\"1\"", "none"])
  func withoutWhatIdentifiesTheBytesAllIsFetched(tag: String) async throws {
    let server = ScriptedServer { request, connection in
      Self.serve(request, connection, tag: tag)
      return true
    }
    defer { server.stop() }
    let (reply, bytes, _) = try await fetch(server, PartsMonitor(chain: [3_000_000..<3_000_100]))
    #expect(reply.outcome == .complete && bytes == Self.large)
    #expect(server.requests.map { $0.fields["range"] } == ["bytes=0-65535", nil])
  }

  @Test func anOldTimeIdentifiesTheBytes() async throws {
    let times = [
      "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT", "Date: Sun, 06 Nov 1994 09:49:37 GMT", "Accept-Ranges: bytes",
    ]
    let server = ScriptedServer { request, connection in
      guard let part = Self.range(of: request) else { return false }
      let place = "Content-Range: bytes \(part.lowerBound)-\(part.upperBound - 1)/\(Self.large.count)"
      connection.reply(206, times + [place], Array(Self.large[part]))
      return true
    }
    defer { server.stop() }
    let (reply, bytes, _) = try await fetch(server, PartsMonitor(chain: [3_000_000..<3_000_100]))
    #expect(Self.isRight(bytes, reply.outcome) && Self.held(reply).contains(3_000_099))
    #expect(server.requests.last?.fields["if-range"] == "Sun, 06 Nov 1994 08:49:37 GMT")
  }

  /// A source that changes between two parts: the server sends the new one whole, or a part of it against the rules.
  @Test(arguments: [true, false])
  func partsOfTwoVersionsAreNeverMixed(obeys: Bool) async throws {
    let new = Self.large.map { $0 ^ 0x55 }
    let server = ScriptedServer { request, connection in
      if request.number < 2 {
        Self.serve(request, connection)
      } else if obeys || Self.range(of: request) == nil {
        connection.reply(200, ["ETag: \"2\"", "Accept-Ranges: bytes"], new)
      } else {
        let part = Self.range(of: request) ?? 0..<1
        let place = "Content-Range: bytes \(part.lowerBound)-\(part.upperBound - 1)/\(new.count)"
        connection.reply(206, ["ETag: \"2\"", place], Array(new[part]))
      }
      return true
    }
    defer { server.stop() }
    let monitor = PartsMonitor(chain: [1_000_000..<1_100_000, 2_000_000..<2_100_000, 3_000_000..<3_100_000])
    let (reply, bytes, _) = try await fetch(server, monitor)
    #expect(reply.outcome == .complete && bytes == new && monitor.restarts == 1)
    #expect(reply.validators.entityTag == "\"2\"" && server.requests.count == (obeys ? 3 : 4))
  }

  @Test(arguments: [
    "bytes 5-65540/4000000", "bytes 0-65535/*", "bytes 0-99999/4000000", "bytes 0-65535/65535", "bytes */4000000", "",
  ])
  func aWrongPartIsNotUsed(place: String) async throws {
    let server = ScriptedServer { request, connection in
      if request.fields["range"] == nil { return Self.served(request, connection) }
      let fields = ["ETag: \"1\""] + (place.isEmpty ? [] : ["Content-Range: \(place)"])
      connection.reply(206, fields, [UInt8](repeating: 9, count: 65_536))
      return true
    }
    defer { server.stop() }
    let (reply, bytes, _) = try await fetch(server, PartsMonitor(chain: [3_000_000..<3_000_100]))
    #expect(reply.outcome == .complete && bytes == Self.large)
  }

  private static func served(_ request: ScriptedServer.Request, _ connection: ScriptedServer.Connection) -> Bool {
    serve(request, connection)
    return true
  }

  @Test(arguments: [400, 405, 416, 501])
  func aServerThatRefusesRangesIsAskedForAll(status: Int) async throws {
    let server = ScriptedServer { request, connection in
      if request.number == 0 || request.fields["range"] == nil { return Self.served(request, connection) }
      connection.reply(status)
      return true
    }
    defer { server.stop() }
    let (reply, bytes, _) = try await fetch(server, PartsMonitor(chain: [3_000_000..<3_000_100]))
    #expect(reply.outcome == .complete && bytes == Self.large && server.requests.count == 3)
  }

  @Test func aPartThatBreaksOffGoesOnWhereItBroke() async throws {
    let server = ScriptedServer { request, connection in
      guard request.number == 1, let part = Self.range(of: request) else { return Self.served(request, connection) }
      connection.send("HTTP/1.1 206 Partial\r\nETag: \"1\"\r\nContent-Length: \(part.count)\r\n")
      connection.send("Content-Range: bytes \(part.lowerBound)-\(part.upperBound - 1)/4000000\r\n\r\n")
      connection.send(Self.large[part].prefix(30_000))
      return false
    }
    defer { server.stop() }
    let (reply, bytes, _) = try await fetch(server, PartsMonitor(chain: [2_000_000..<2_100_000]))
    #expect(Self.isRight(bytes, reply.outcome) && Self.held(reply).contains(2_099_999))
    let asked = server.requests.compactMap { $0.fields["range"] }
    #expect(asked == ["bytes=0-65535", "bytes=2000000-2099999", "bytes=2030000-2099999"])
    #expect(reply.bytesReceived == 165_536)
  }

  @Test func aMissingFileFailsAtTheFirstRequest() async throws {
    let server = ScriptedServer { _, connection in
      connection.reply(404)
      return true
    }
    defer { server.stop() }
    await #expect(throws: FetchError.status(404)) { try await fetch(server, PartsMonitor(chain: [])) }
    #expect(server.requests.count == 1)
  }

  @Test func theLimitIsThatOfTheWholeSource() async throws {
    let server = ScriptedServer { request, connection in Self.served(request, connection) }
    defer { server.stop() }
    let setup = try Setup { $0.largest = 1 << 20 }
    await #expect(throws: FetchError.tooLarge(needed: Self.large.count, limit: 1 << 20)) {
      try await fetch(server, PartsMonitor(chain: []), setup)
    }
  }

  /// A file that leads to ever new places, and one of thousands of tiny parts, cost few requests.
  @Test(arguments: [true, false])
  func aFileOfManyPlacesIsFetchedWhole(isChain: Bool) async throws {
    let server = ScriptedServer { request, connection in Self.served(request, connection) }
    defer { server.stop() }
    let places = (0..<2000).map { 100_000 + $0 * 1950..<100_001 + $0 * 1950 }
    let far = (0..<38).map { 3_900_000 - $0 * 100_000..<3_900_001 - $0 * 100_000 }
    let monitor =
      isChain ? PartsMonitor(chain: far) : PartsMonitor { RangeSet(places).subtracting($0) }
    let (reply, bytes, _) = try await fetch(server, monitor)
    #expect(Self.isRight(bytes, reply.outcome) && server.requests.count <= PartCourse.mostRequests + 2)
    if !isChain { #expect(server.requests.count == 2 && reply.outcome == .complete) }
  }

  /// A server that sends one byte of each part does not keep a source busy for ever.
  @Test func tinyAnswersComeToAnEnd() async throws {
    let server = ScriptedServer { request, connection in
      guard let part = Self.range(of: request) else { return Self.served(request, connection) }
      let place = "Content-Range: bytes \(part.lowerBound)-\(part.lowerBound)/4000000"
      connection.reply(206, ["ETag: \"1\"", place], [Self.large[part.lowerBound]])
      return true
    }
    defer { server.stop() }
    let (reply, bytes, _) = try await fetch(server, PartsMonitor { _ in nil })
    #expect(reply.outcome == .complete && bytes == Self.large && server.requests.count <= PartCourse.mostRequests + 4)
  }

  @Test func partsWaitForSpaceAndHoldNoneMeanwhile() async throws {
    let server = ScriptedServer { request, connection in Self.served(request, connection) }
    defer { server.stop() }
    let setup = try Setup({ $0.perHost = 1 }, spool: 200_000)
    // Together they need more than there is, and each waits for its connection between its parts.
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<6 {
        group.addTask {
          let start = 1_000_000 + number * 300_000
          let (reply, bytes, _) = try await fetch(server, PartsMonitor(chain: [start..<start + 90_000]), setup)
          return Self.isRight(bytes, reply.outcome) && Self.held(reply).contains(start + 89_999)
        }
      }
      for try await isRight in group { #expect(isRight) }
    }
    #expect(setup.spool.reserved == 0)
  }

  /// Servers that break off, change the source, and answer with something else than was asked for, at random.
  @Test func whateverAServerDoesAFileIsOfOneVersion() async throws {
    let versions = [Self.large, Self.large.map { $0 ^ 0x55 }]
    let server = ScriptedServer { request, connection in
      var random = SystemRandomNumberGenerator()
      let version = Int.random(in: 0..<4, using: &random) == 0 ? 1 : 0
      let (body, tag) = (versions[version], "\"\(version)\"")
      let part = Self.range(of: request)?.clamped(to: 0..<body.count)
      func partly(_ part: Range<Int>, sent: Int? = nil, from start: Int? = nil) {
        connection.send("HTTP/1.1 206 Partial\r\nETag: \(tag)\r\nContent-Length: \(part.count)\r\n")
        connection.send("Content-Range: bytes \(start ?? part.lowerBound)-\(part.upperBound - 1)/\(body.count)\r\n\r\n")
        connection.send(body[part].prefix(sent ?? part.count))
      }
      switch (Int.random(in: 0..<12, using: &random), part) {
      case (0, let part?): partly(part, sent: part.count / 2)
      // Against the rules, whatever the version.
      case (1, let part?), (7, let part?):
        partly(part)
        return true
      case (2, let part?) where part.count > 10: partly(part.lowerBound + 5..<part.upperBound)
      case (3, let part?) where part.count > 10: partly(part.lowerBound..<part.upperBound - 5)
      case (4, let part?) where part.count > 10: partly(part, from: part.lowerBound + 1)
      case (5, _): connection.reply(200, ["ETag: \(tag)", "Accept-Ranges: bytes"], body)
      case (6, _): connection.reply(503, ["Retry-After: 0", "Connection: close"])
      default:
        Self.serve(request, connection, body, tag: tag)
        return true
      }
      return false
    }
    defer { server.stop() }
    let setup = try Setup({ ($0.perHost, $0.connections) = (8, 16) }, spool: 256 << 20)
    let made = try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<60 {
        group.addTask {
          let chain = (0..<6).map { 300_000 + $0 * 600_000..<310_000 + $0 * 600_000 }
          let monitor = PartsMonitor(chain: number % 2 == 0 ? chain : chain.reversed())
          do {
            let (reply, bytes, _) = try await fetch(server, monitor, beginning: number % 3 == 0 ? nil : 64 << 10, setup)
            let version = reply.validators.entityTag == "\"1\"" ? 1 : 0
            #expect(Self.isRight(bytes, reply.outcome, versions[version]), "\(number): \(reply.outcome)")
            let held = reply.outcome == .complete ? RangeSet(0..<Self.large.count) : Self.held(reply)
            #expect(held.isSuperset(of: RangeSet(chain)), "\(number)")
            return 1
          } catch is FetchError {
            // A server may fail too often.
            return 0
          }
        }
      }
      return try await group.reduce(0, +)
    }
    #expect(made > 30)
    #expect(try await eventually { setup.spool.reserved == 0 })
  }

  @Test func gapsOfAFileAreNoPartOfIt() throws {
    let file = try Spool(folder: "/tmp", bytes: 1000).file()
    func write(_ count: Int, at start: Int) throws {
      try [UInt8](repeating: 1, count: count).withUnsafeBytes { bytes in
        try Result { () throws(FetchError) in try file.write(bytes, at: start) }.get()
      }
    }
    try write(10, at: 0)
    try write(10, at: 30)
    #expect(file.size == 10 && file.held == RangeSet([0..<10, 30..<40]))
    try write(25, at: 8)
    #expect(file.size == 40 && file.held == RangeSet(0..<40))
    try file.truncate(to: 5)
    #expect(file.size == 5 && file.held == RangeSet(0..<5))
  }
}
