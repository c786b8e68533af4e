import Foundation
import TestSupport
import Testing

@testable import StatusEndpoint

@Suite(.timeLimit(.minutes(5))) struct RouteTests {
  // MARK: Reading

  @Test func theStatusIsTheSnapshotOfTheRun() async throws {
    let served = try await ServedRun.open()
    let status: RunStatus = try await served.ask("GET", "/status").decoded()
    #expect(status == served.run.status(listing: 100))
    #expect(status.running == [FakeRun.running] && status.waiting == [FakeRun.waiting])
  }

  @Test func theStatusListsAtMostAHundredOperations() async throws {
    let served = try await ServedRun.open(run: FakeRun(more: 300))
    let status: RunStatus = try await served.ask("GET", "/status").decoded()
    #expect(status.waiting.count == 100)
  }

  @Test func operationsAreListedByStateAndPageByPage() async throws {
    let served = try await ServedRun.open(run: FakeRun(more: 6))
    func page(_ query: String) async throws -> OperationPage {
      try await served.ask("GET", "/operations\(query)").decoded()
    }
    #expect(try await page("").operations.map(\.id) == Array(3...10))
    #expect(try await page("?state=failed").operations.map(\.id) == [2])
    #expect(try await page("?state=finished,failed,cancelled").operations.map(\.id) == [1, 2])
    #expect(try await page("?state=running%2Cfinished").operations.map(\.id) == [1, 3])
    let first = try await page("?limit=3")
    #expect(first.operations.map(\.id) == [3, 4, 5] && first.nextAfter == 5)
    let second = try await page("?limit=3&after=5")
    #expect(second.operations.map(\.id) == [6, 7, 8] && second.nextAfter == 8)
    let last = try await page("?limit=3&after=8")
    #expect(last.operations.map(\.id) == [9, 10] && last.nextAfter == nil)
  }

  @Test func oneOperationIsFoundRunningOrEnded() async throws {
    let served = try await ServedRun.open()
    #expect(try await served.ask("GET", "/operations/3").decoded(OperationStatus.self) == FakeRun.running)
    #expect(try await served.ask("GET", "/operations/2").decoded(OperationStatus.self).reason == "cut off")
    for path in ["/operations/99", "/operations/99999999999999999999", "/operations/-1", "/operations/x"] {
      #expect(try await served.ask("GET", path).status == 404, "\(path)")
    }
  }

  @Test(arguments: [
    "/operations?foo=1", "/operations?state=", "/operations?state=lost", "/operations?state=running,", "/status?x",
    "/operations?limit=0", "/operations?limit=251", "/operations?limit=-1", "/operations?limit=ten",
    "/operations?after=-1", "/operations?limit=1&limit=2", "/operations?limit=+1", "/operations?limit=%zz", "/?a=b",
    "/operations?after=9223372036854775808",
  ])
  func invalidQueriesAreRefusedWithAReason(target: String) async throws {
    let answer = try await ServedRun.open().ask("GET", target)
    #expect(answer.status == 400)
    #expect(answer.headers["content-type"] == "application/problem+json")
    #expect(try answer.decoded(ErrorDetails.self).status == 400)
  }

  @Test func unknownRoutesAndMethodsAreRefused() async throws {
    let served = try await ServedRun.open()
    for path in ["/nothing", "/status/", "//status", "/operations/1/2", "/%2e%2e/etc", "/operations/"] {
      let answer = try await served.ask("GET", path)
      #expect(answer.status == 404, "\(path)")
      #expect(try answer.decoded(ErrorDetails.self).title == "Not Found")
    }
    for (method, path, allow) in [
      ("POST", "/status", "GET, HEAD"), ("TRACE", "/status", "GET, HEAD"), ("GET", "/cancel", "POST"),
      ("HEAD", "/cancel", "POST"), ("PUT", "/operations/3", "DELETE, GET, HEAD"), ("OPTIONS", "/limits", "PATCH"),
    ] {
      let answer = try await served.ask(method, path)
      #expect(answer.status == 405 && answer.headers["allow"] == allow, "\(method) \(path)")
    }
  }

  @Test func headIsGetWithoutTheBody() async throws {
    let served = try await ServedRun.open()
    for path in [
      "/", "/status", "/operations", "/operations/3", "/metrics", "/healthz", "/thumbnails", "/openapi.json",
    ] {
      let (head, get) = (try await served.ask("HEAD", path), try await served.ask("GET", path))
      #expect(head.status == 200 && head.headers["content-type"] == get.headers["content-type"], "\(path)")
      if path != "/metrics" { #expect(head.headers["content-length"] == get.headers["content-length"], "\(path)") }
    }
    let events = try await served.ask("HEAD", "/events")
    #expect(events.status == 200 && events.headers["content-type"]?.hasPrefix("text/event-stream") == true)
    // As that of GET, whose length is not known. Nothing follows it but the next answer.
    #expect(events.headers["content-length"] == nil && events.headers["transfer-encoding"] == "chunked")
    let address = served.endpoint.address
    let next = try await onThread {
      let client = try RawClient(address)
      client.send("HEAD /events HTTP/1.1\r\nHost: localhost\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
      return client.receive(until: "\"ok\"")
    }
    #expect(next.components(separatedBy: "\r\n\r\n").dropFirst().first?.hasPrefix("HTTP/1.1 200") == true)
    #expect(!served.feed.hasListeners)
  }

  // MARK: The connection

  /// Sends a request, and returns what comes until the connection is closed, or for a moment if it is not.
  private func answers(
    to request: String, _ version: String = "HTTP/1.1", fields: [String] = []
  ) async throws -> (text: String, isClosed: Bool) {
    let served = try await ServedRun.open()
    let lines = ["\(request) \(version)", "Host: localhost"] + fields + ["", ""]
    return try await onThread {
      let client = try RawClient(served.endpoint.address)
      client.send(lines.joined(separator: "\r\n"))
      let text = client.receive(until: "}", within: 20)
      return (text, client.isClosed(within: 0.5))
    }
  }

  @Test(arguments: [
    ("HTTP/1.0", []), ("HTTP/1.0", ["Connection: keep-alive"]), ("HTTP/1.0", ["Expect: 100-continue"]),
    ("HTTP/1.1", ["Connection: close"]), ("HTTP/1.1", ["Connection: TE, Close"]),
  ])
  func theLastRequestOfAConnectionIsAnsweredAndSoIsItsEnd(version: String, fields: [String]) async throws {
    let (text, isClosed) = try await answers(to: "GET /healthz", version, fields: fields)
    #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n") && text.contains("\r\nConnection: close\r\n") && isClosed)
    let (other, isOtherClosed) = try await answers(to: "GET /healthz")
    #expect(!other.contains("Connection") && !isOtherClosed)
  }

  @Test func eventsForHTTP10HaveNoChunks() async throws {
    let served = try await ServedRun.open()
    let text = try await onThread {
      let client = try RawClient(served.endpoint.address)
      client.send("GET /events HTTP/1.0\r\nHost: localhost\r\n\r\n")
      return client.receive(until: "event: ")
    }
    let parts = text.components(separatedBy: "\r\n\r\n")
    #expect(!parts[0].contains("chunked") && parts[0].contains("Connection: close") && parts[1].hasPrefix("retry: "))
  }

  private static let change = ["Content-Type: application/json", "Content-Length: 9"]

  @Test func anExpectationIsMetBeforeTheBodyIsSent() async throws {
    let served = try await ServedRun.open()
    let text = try await onThread {
      let client = try RawClient(served.endpoint.address)
      let fields = Self.change + ["Expect: 100-Continue"]
      let head = ["PATCH /limits HTTP/1.1", "Host: localhost"] + fields + ["", ""]
      client.send(head.joined(separator: "\r\n"))
      let first = client.receive(until: "\r\n\r\n")
      client.send("{\"max\":3}")
      return first + client.receive(until: "}")
    }
    #expect(text.hasPrefix("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n") && text.contains("\"max\":3"))
  }

  /// The body does not come any more, so the next bytes are no request.
  @Test(arguments: [
    ("PATCH /nothing", change, 404), ("PATCH /limits", ["Content-Type: text/plain", "Content-Length: 9"], 415),
    ("PATCH /limits", [change[0], "Content-Length: 999999"], 413),
  ])
  func aRequestThatIsRefusedNeedsNoBody(request: String, fields: [String], status: Int) async throws {
    let (text, isClosed) = try await answers(to: request, fields: fields + ["Expect: 100-continue"])
    #expect(text.hasPrefix("HTTP/1.1 \(status) ") && isClosed)
  }

  @Test func otherExpectationsFail() async throws {
    let (text, isClosed) = try await answers(to: "PATCH /limits", fields: Self.change + ["Expect: the unexpected"])
    #expect(text.hasPrefix("HTTP/1.1 417 ") && text.contains("100-continue") && isClosed)
  }

  @Test func healthIsAlwaysOkAndReadinessEndsWithTheRun() async throws {
    let served = try await ServedRun.open()
    for (state, ready) in [(RunState.running, 200), (.paused, 200), (.stopping, 503), (.finished, 503)] {
      served.run.state.change { $0 = state }
      #expect(try await served.ask("GET", "/healthz").status == 200)
      let answer = try await served.ask("GET", "/readyz")
      #expect(answer.status == ready && answer.text == "{\"status\":\"\(state.rawValue)\"}")
    }
  }

  @Test func requestsOfOneConnectionAreAnsweredInOrder() async throws {
    let served = try await ServedRun.open()
    let address = served.endpoint.address
    let text = try await onThread {
      let client = try RawClient(address)
      client.send(
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /operations/2 HTTP/1.1\r\nHost: localhost\r\n\r\n")
      client.send("POST /pause HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc")
      client.send("GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n")
      return client.receive(until: "Not Found\"}")
    }
    let order = ["\"ok\"", "cut off", "\"paused\":true", "no such route"].compactMap { text.range(of: $0)?.lowerBound }
    #expect(order.count == 4 && order == order.sorted())
  }

  // MARK: Changing

  @Test func commandsArePassedToTheRun() async throws {
    let served = try await ServedRun.open()
    #expect(try await served.ask("POST", "/pause").text == "{\"paused\":true}")
    #expect(try await served.ask("POST", "/resume").text == "{\"paused\":false}")
    let cancelled = try await served.ask("POST", "/cancel")
    #expect(cancelled.status == 202 && cancelled.text == "{\"running\":1,\"waiting\":1}")
    #expect(served.run.commands.value == [.pause, .resume, .cancelAll])
  }

  @Test func cancellingAnOperationReportsTheResult() async throws {
    let served = try await ServedRun.open()
    for (id, status, text) in [
      (3, 202, "{\"running\":1,\"waiting\":0}"), (4, 202, "{\"running\":0,\"waiting\":1}"),
      (1, 409, "has ended already"),
      (99, 404, "no operation 99"),
    ] {
      let answer = try await served.ask("DELETE", "/operations/\(id)")
      #expect(answer.status == status && answer.text.contains(text), "\(id)")
    }
    #expect(served.run.commands.value == [.cancel(3), .cancel(4), .cancel(1), .cancel(99)])
  }

  @Test func limitsCanBeChangedSeparately() async throws {
    let served = try await ServedRun.open()
    let json = ["Content-Type": "application/json; charset=utf-8"]
    let answer = try await served.ask("PATCH", "/limits", headers: json, body: "{\"max\":3, \"budget_bytes\":1048576}")
    #expect(try answer.decoded(RunLimits.self) == RunLimits(max: 3, backlog: 8, budgetBytes: 1 << 20))
    #expect(served.run.commands.value == [.change(LimitsChange(max: 3, budgetBytes: 1 << 20))])
  }

  @Test(arguments: [
    ("", "must be a JSON object"), ("[]", "must be a JSON object"), ("{\"max\":", "must be a JSON object"),
    ("{\"max\":2.5}", "whole number"), ("{\"max\":\"2\"}", "whole number"), ("{\"max\":null}", "whole number"),
    ("{\"max\":true}", "whole number"), ("{\"max\":1e400}", "whole number"),
    ("{\"max\":0}", "max must be a whole number from 1 to 1024"),
    ("{\"max\":1025}", "max must be a whole number from 1 to 1024"),
    ("{\"backlog\":-1}", "backlog must be a whole number from 0"),
    ("{\"budget_bytes\":1}", "budget_bytes must be a whole number from 1048576"),
    ("{\"maximum\":2}", "unknown key \"maximum\"; known are max, backlog, budget_bytes"), ("{}", "at least one"),
    ("{\"max\":3,\"more\":1}", "unknown key"),
  ])
  func invalidLimitsAreRefusedWithAReason(body: String, reason: String) async throws {
    let served = try await ServedRun.open()
    let answer = try await served.ask("PATCH", "/limits", headers: ["Content-Type": "application/json"], body: body)
    #expect(answer.status == 400)
    #expect(try answer.decoded(ErrorDetails.self).detail.contains(reason), "\(answer.text)")
    #expect(served.run.commands.value.isEmpty)
  }

  @Test func limitsThatTheRunCannotHaveAreAConflict() async throws {
    let served = try await ServedRun.open()
    let answer = try await served.ask(
      "PATCH", "/limits", headers: ["Content-Type": "application/json"], body: "{\"max\":13}")
    #expect(answer.status == 409)
    #expect(try answer.decoded(ErrorDetails.self).detail == "thirteen is unlucky")
  }

  @Test func aBodyOfAnotherTypeIsRefused() async throws {
    let served = try await ServedRun.open()
    for headers in [[:], ["Content-Type": "text/plain"]] {
      #expect(try await served.ask("PATCH", "/limits", headers: headers, body: "{\"max\":3}").status == 415)
    }
  }
}
