import Foundation
import TestSupport
import Testing

@testable import Fetching

/// Values that decide: what is tried again, which hosts are left alone, what a header says.
@Suite struct RuleTests {
  private let policy = RetryPolicy(limits: FetchLimits())

  @Test func onlyWhatMayPassIsTriedAgain() {
    for error in [FetchError.status(408), .status(429), .status(500), .status(503), .cutOff(received: 1, of: 2)] {
      #expect(
        policy.decision(after: error, tries: 1, retryAfter: nil, chance: 0) == .wait(.milliseconds(500)), "\(error)")
    }
    for error in [
      FetchError.status(404), .status(403), .status(501), .privateAddress(""), .tooManyRedirects, .cancelled,
    ] {
      #expect(policy.decision(after: error, tries: 1, retryAfter: 1, chance: 0) == .fail(error), "\(error)")
    }
  }

  @Test func waitsDoubleAndVaryByAHalf() {
    for (tries, most) in [(1, 500), (2, 1000), (3, 2000)] {
      for chance in [0.0, 0.5, 1] {
        let wait = Duration.milliseconds(most) * (1 - chance / 2)
        #expect(
          policy.decision(after: .stalled(.seconds(1)), tries: tries, retryAfter: nil, chance: chance) == .wait(wait))
      }
    }
    let error = FetchError.status(500)
    #expect(policy.decision(after: error, tries: 4, retryAfter: nil, chance: 0) == .fail(error))
  }

  @Test func aServerMayAskToWaitLongerButNotForEver() {
    #expect(policy.decision(after: .status(429), tries: 1, retryAfter: 7, chance: 0) == .wait(.seconds(7)))
    #expect(policy.decision(after: .status(503), tries: 1, retryAfter: 0, chance: 0) == .wait(.milliseconds(500)))
    // Many sources that were told the same time do not come back together, and none comes too early.
    for (told, most) in [(0, 500), (2, 2500), (60, 66_000)] {
      let waits = [0, 0.5, 1].map { policy.decision(after: .status(503), tries: 1, retryAfter: told, chance: $0) }
      #expect(
        Set(waits.map { "\($0)" }).count == (told == 0 ? 2 : 3) && waits[2] == .wait(.milliseconds(most)), "\(waits)")
    }
    let tooLong = FetchError.waitTooLong(3600, status: 429)
    #expect(policy.decision(after: .status(429), tries: 1, retryAfter: 3600, chance: 0) == .fail(tooLong))
  }

  @Test func aHostThatDoesNotAnswerIsLeftAloneForAWhile() {
    var health = HostHealth()
    let start = ContinuousClock.now
    let error = FetchError.cannotConnect("refused")
    func obstacle(_ host: String, _ now: ContinuousClock.Instant) -> FetchError? { health.obstacle(of: host, at: now) }
    for _ in 0..<4 { health.failed("h", error, at: start) }
    #expect(obstacle("h", start) == nil)
    health.failed("h", error, at: start)
    #expect(obstacle("h", start + .seconds(29)) == .hostDown("h", reason: "\(error)"))
    #expect(obstacle("other", start) == nil)
    // After the pause, one source is tried.
    #expect(obstacle("h", start + .seconds(31)) == nil)
    #expect(obstacle("h", start + .seconds(32)) != nil)
    health.succeeded("h", at: start + .seconds(33))
    #expect(obstacle("h", start + .seconds(33)) == nil)
  }

  @Test func anAnswerOfAnyKindShowsThatAHostIsThere() {
    var health = HostHealth()
    for number in 0..<20 {
      health.failed("h", number % 4 == 3 ? .status(500) : .cannotConnect(""), at: .now)
      let obstacle = health.obstacle(of: "h", at: .now)
      #expect(obstacle == nil)
    }
  }

  @Test func aHostHasABudgetOfTriesThatSuccessesRefill() {
    var health = HostHealth()
    func take(_ host: String = "h") -> Bool { health.takeTry(host, at: .now) }
    #expect((0..<20).allSatisfy { _ in take() })
    #expect(!take() && take("other"))
    for _ in 0..<11 { health.succeeded("h", at: .now) }
    #expect(take() && !take())
  }

  @Test func aHostThatAsksForQuietGetsItUnlessItHasNoTriesLeft() {
    var health = HostHealth()
    let start = ContinuousClock.now
    health.asksForQuiet("h", for: .seconds(60), at: start)
    #expect(health.quiet(of: "h", at: start + .seconds(50)) == .seconds(10))
    #expect(health.quiet(of: "h", at: start + .seconds(60)) == nil && health.quiet(of: "other", at: start) == nil)
    while health.takeTry("h", at: start) {}
    health.asksForQuiet("h", for: .seconds(60), at: start + .seconds(60))
    #expect(health.quiet(of: "h", at: start + .seconds(61)) == nil)
  }

  @Test func onlyTheLastHostsAreRemembered() {
    var health = HostHealth()
    let start = ContinuousClock.now
    while health.takeTry("used", at: start) {}
    for number in 0..<3000 {
      _ = health.takeTry("host \(number)", at: start + .seconds(number))
      if number % 500 == 0 { health.failed("used", .cannotConnect(""), at: start + .seconds(number)) }
    }
    #expect(health.count == HostHealth.mostHosts)
    let (isUsedLeft, isOldLeft) = (health.takeTry("used", at: start), health.takeTry("host 0", at: start))
    #expect(!isUsedLeft && isOldLeft, "a host that is still used keeps its budget, and one that is not gets a new one")
  }

  // MARK: Headers

  private func header(_ lines: [String]) throws -> (ReplyHeader, isComplete: Bool) {
    var header = ReplyHeader()
    var isComplete = false
    for line in lines + [""] {
      isComplete = try Array((line + "\r\n").utf8).withUnsafeBufferPointer { try header.read($0, now: 1_000_000_000) }
    }
    return (header, isComplete)
  }

  @Test func aHeaderTellsWhatIsNeeded() throws {
    let (header, isComplete) = try header([
      "HTTP/1.1 206 Partial Content", "content-length: 10", "Content-Range: bytes 5-14/15", "ETag: \"a\"",
      "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT", "Retry-After: 120",
    ])
    #expect(isComplete && header.status == 206 && header.length == 10)
    #expect(header.range?.start == 5 && header.range?.total == 15 && header.retryAfter == 120)
    #expect(header.validators == Validators(entityTag: "\"a\"", lastModified: 784_111_777))
    #expect(header.validators.ofBytes == "\"a\"" && Validators(entityTag: "W/\"a\"").ofBytes == nil)
  }

  @Test func aNewStatusLineBeginsANewHeader() throws {
    let (header, isComplete) = try header(["HTTP/1.1 100 Continue", "ETag: \"no\"", "", "HTTP/1.1 200", "X: y"])
    #expect(isComplete && header.status == 200 && header.validators == Validators())
    #expect(try !self.header(["HTTP/1.1 100 Continue"]).isComplete)
  }

  @Test(arguments: [
    "HTTP/1.1 200 OK\nContent-Length: -1", "HTTP/1.1 200 OK\nContent-Length: 1\nContent-Length: 2",
    "HTTP/1.1 200 OK\nContent-Length: 99999999999999999999", "HTTP/1.1 0", "HTTP/1.1 x", "HTTP/1.1",
    LongText("HTTP/1.1 200" + String(repeating: "\nA: b", count: 100)),
    LongText("HTTP/1.1 200\n" + String(repeating: "a", count: 70_000)),
  ])
  func aHeaderThatBreaksTheRulesIsRefused(lines: LongText) {
    #expect(throws: FetchError.self) { try header(lines.text.split(separator: "\n").map(String.init)) }
  }

  @Test(arguments: [
    "ETag: none", "ETag: \"\u{1}\"", LongText("ETag: \"" + String(repeating: "x", count: 600) + "\""),
    "Last-Modified: yesterday", "Last-Modified: Sun, 06 Nov 2994 08:49:37 GMT", "Content-Range: bytes */15",
    "Content-Range: bytes 9-5/15",
    "Content-Encoding: identity", "nothing", ": x",
  ])
  func whatIsNotUnderstoodIsNotThere(line: LongText) throws {
    let header = try header(["HTTP/1.1 200 OK", line.text]).0
    #expect(header.validators == Validators() && header.range == nil && header.encoding == nil)
  }

  @Test func datesHaveThreeForms() {
    for text in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
      #expect(HTTPDate.seconds(text) == 784_111_777, "\(text)")
    }
    for text in [
      "", "Sun", "Sun, 99 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT",
    ] {
      #expect(HTTPDate.seconds(text) == nil, "\(text)")
    }
    for seconds in [0, 784_111_777, 1_790_000_000] { #expect(HTTPDate.seconds(HTTPDate.text(seconds)) == seconds) }
    #expect(HTTPDate.text(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
  }

  @Test func everyErrorIsOneLine() {
    let errors: [FetchError] = [
      .status(401), .status(403), .status(404), .status(429), .status(500), .status(600), .tooManyRedirects,
      .redirectRefused, .privateAddress("::1"), .cannotResolve("h"), .cannotConnect("x"), .notTrusted("x"),
      .connectTimedOut(.seconds(15), isSecure: false), .connectTimedOut(.seconds(15), isSecure: true),
      .proxyRefused(403), .proxyRefused(407), .stalled(.seconds(30)), .cutOff(received: 1, of: 2),
      .cutOff(received: 1, of: nil),
      .tooLarge(needed: 5, limit: 4), .tooLarge(needed: nil, limit: 4), .encoded("gzip"), .hostDown("h", reason: "x"),
      .waitTooLong(90, status: 503), .postponed(Postponement(of: "h", for: .seconds(9), tries: 1)), .spool(.noSpace),
      .noLibrary("x"), .cancelled, .badReply("x"),
    ]
    let lines = errors.map { "\($0)" }
    #expect(Set(lines).count == lines.count && lines.allSatisfy { !$0.contains("\n") && !$0.contains("FetchError") })
    #expect(FetchError.line("a\u{1b}[31m\né") == "a?[31m???")
    #expect(FetchError.line(String(repeating: "x", count: 5000)).count == 200)
  }
}
