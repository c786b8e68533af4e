import TestSupport
import Testing

@testable import StatusEndpoint

/// Access to the endpoint: pages of other sites, host names, tokens.
@Suite(.timeLimit(.minutes(5))) struct AccessTests {
  private static let changes = [
    ("POST", "/cancel"), ("POST", "/pause"), ("POST", "/resume"), ("DELETE", "/operations/4"), ("PATCH", "/limits"),
  ]
  private static let reads = [
    "/status", "/operations", "/operations/3", "/metrics", "/thumbnails", "/history", "/openapi.json",
  ]

  // MARK: Tokens

  @Test func aUnixSocketNeedsNoToken() async throws {
    let served = try await ServedRun.open(.file)
    #expect(try await served.ask("GET", "/status").status == 200)
    #expect(try await served.ask("POST", "/cancel").status == 202)
    #expect(served.run.commands.value == [.cancelAll])
  }

  @Test(arguments: changes) func everyChangeOverTCPNeedsTheToken(method: String, path: String) async throws {
    let served = try await ServedRun.open(.tcp)
    let json = ["Content-Type": "application/json"]
    for wrong in ["", "Bearer ", "Bearer \(ServedRun.token.text)0", "Basic \(ServedRun.token.text)", "Bearer x"] {
      let answer = try await served.ask(
        method, path, headers: json.merging(["Authorization": wrong]) { $1 }, body: "{\"max\":3}")
      #expect(answer.status == 401)
      #expect(answer.headers["www-authenticate"]?.hasPrefix("Bearer") == true)
    }
    let inQuery = try await served.ask(
      method, "\(path)?token=\(ServedRun.token.text)", headers: json, body: "{\"max\":3}")
    #expect(inQuery.status == 401)
    #expect(served.run.commands.value.isEmpty)
    let right = try await served.ask(method, path, headers: json, hasToken: true, body: "{\"max\":3}")
    #expect((200...202).contains(right.status))
    #expect(served.run.commands.value.count == 1)
  }

  @Test func readingOverLocalTCPNeedsNoToken() async throws {
    let served = try await ServedRun.open(.tcp)
    for path in Self.reads { #expect(try await served.ask("GET", path).status == 200, "\(path)") }
  }

  @Test func readingOverTheNetworkNeedsTheTokenToo() async throws {
    let served = try await ServedRun.open(.network)
    for path in Self.reads + ["/events", "/thumbnails/1"] {
      #expect(try await served.ask("GET", path).status == 401, "\(path)")
      #expect(try await served.ask("HEAD", path).status == 401, "\(path)")
    }
    for path in Self.reads { #expect(try await served.ask("GET", path, hasToken: true).status == 200, "\(path)") }
    for path in ["/", "/healthz", "/readyz"] { #expect(try await served.ask("GET", path).status == 200, "\(path)") }
  }

  @Test func everyTokenIsNewAndAWeakOneIsRefused() {
    let (one, other) = (AccessToken(), AccessToken())
    #expect(one.text.utf8.count == 64 && one != other)
    #expect(one.text.allSatisfy { $0.isHexDigit })
    for text in [
      "", "short", String(repeating: "x", count: 257), "0123456789 abcdef", "0123456789\nabcdef", "0123456789äbcdef",
    ] {
      #expect(AccessToken(text) == nil)
    }
    #expect(!"\(one)".contains(one.text))
  }

  // MARK: Host names and pages

  @Test(arguments: [ServedRun.Place.file, .tcp, .network])
  func aHostNameOfAnAttackerIsRefused(place: ServedRun.Place) async throws {
    let served = try await ServedRun.open(place)
    for host in [
      "evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example", "", "[::1].evil.example",
      "[::1", "localhost:80:evil.example", "localhost:", "[evil.example]",
    ] {
      let answer = try await served.ask("GET", "/status", headers: ["Host": host], hasToken: true)
      #expect(answer.status == 403 || answer.status == 400, "\(host)")
      let change = try await served.ask("POST", "/cancel", headers: ["Host": host], hasToken: true)
      #expect(change.status == 403 || change.status == 400, "\(host)")
    }
    #expect(served.run.commands.value.isEmpty)
  }

  /// The first line of the answer to these bytes.
  private static func firstLine(of request: String) async throws -> String {
    let served = try await ServedRun.open()
    let address = served.endpoint.address
    let answer = try await onThread {
      let client = try RawClient(address)
      client.send(request)
      return client.receive(until: "\r\n")
    }
    return withExtendedLifetime(served) { String(answer.prefix { $0 != "\r\n" }) }
  }

  @Test(arguments: [
    "GET /status HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
    "GET /status HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
    "GET http://evil.example/status HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET HTTP://evil.example:80?x HTTP/1.1\r\nHost: localhost\r\n\r\n",
  ]) func aRequestThatNamesTwoHostsIsRefused(_ request: String) async throws {
    let answer = try await Self.firstLine(of: request)
    #expect(answer == "HTTP/1.1 400 Bad Request")
  }

  @Test func anAbsoluteURIOfTheSameHostIsAnswered() async throws {
    let answer = try await Self.firstLine(of: "GET http://localhost/status HTTP/1.1\r\nHost: localhost\r\n\r\n")
    #expect(answer == "HTTP/1.1 200 OK")
    #expect(RequestTargetCheck.host(of: "/status?from=http://evil.example/") == nil)
  }

  @Test func itsOwnHostNamesAreAccepted() async throws {
    let (file, machine, network) = (
      try await ServedRun.open(.file), try await ServedRun.open(.tcp), try await ServedRun.open(.network)
    )
    for host in ["localhost", "LOCALHOST:9", "127.0.0.1:9", "[::1]:9", "127.1.2.3"] {
      #expect(try await file.ask("GET", "/status", headers: ["Host": host]).status == 200)
      #expect(try await machine.ask("GET", "/status", headers: ["Host": host]).status == 200)
      #expect(try await network.ask("GET", "/status", headers: ["Host": host], hasToken: true).status == 200)
    }
    #expect(try await file.ask("GET", "/status", headers: ["Host": "thumbjob"]).status == 200)
    #expect(try await machine.ask("GET", "/status", headers: ["Host": "192.0.2.7"]).status == 403)
    #expect(try await network.ask("GET", "/status", headers: ["Host": "192.0.2.7"], hasToken: true).status == 200)
  }

  @Test(arguments: [ServedRun.Place.file, .tcp, .network])
  func aPageOfAnotherOriginCanNeitherReadNorChange(place: ServedRun.Place) async throws {
    let served = try await ServedRun.open(place)
    let foreign = [
      ["Origin": "http://evil.example"], ["Origin": "null"], ["Origin": "http://localhost:3000"],
      ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"],
    ]
    for headers in foreign {
      for (method, path) in Self.changes + Self.reads.map({ ("GET", $0) }) + [
        ("GET", "/events"), ("OPTIONS", "/cancel"),
      ] {
        let answer = try await served.ask(method, path, headers: headers, hasToken: true)
        #expect(answer.status == 403, "\(method) \(path) \(headers)")
        #expect(answer.headers["access-control-allow-origin"] == nil)
      }
    }
    #expect(served.run.commands.value.isEmpty)
  }

  @Test func itsOwnPageMaySendRequestsAndOtherSitesMayLinkToIt() async throws {
    let served = try await ServedRun.open(.tcp)
    let own = ["Origin": "http://\(served.host)", "Sec-Fetch-Site": "same-origin"]
    #expect(try await served.ask("POST", "/pause", headers: own, hasToken: true).status == 200)
    let link = ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"]
    #expect(try await served.ask("GET", "/", headers: link).status == 200)
    #expect(try await served.ask("GET", "/status", headers: link).status == 403)
    let frame = ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"]
    #expect(try await served.ask("GET", "/", headers: frame).status == 403)
  }

  @Test(arguments: [(ServedRun.Place.file, "no"), (.tcp, "yes"), (.network, "yes")])
  func thePageKnowsWhetherChangesNeedTheToken(place: ServedRun.Place, word: String) async throws {
    let page = try await ServedRun.open(place).ask("GET", "/").text
    #expect(page.contains("<body data-needs-token=\"\(word)\">"))
    #expect(page.contains("min=\"1\" max=\"1024\""))
  }

  @Test func thePageLoadsNoOtherFilesAndRunsOnlyItsOwnScript() async throws {
    let served = try await ServedRun.open(.tcp)
    let (one, other) = (try await served.ask("GET", "/"), try await served.ask("GET", "/"))
    let policy = try #require(one.headers["content-security-policy"])
    let nonce = try #require(one.text.firstMatch(of: /<script nonce="([a-z0-9]+)">/)?.output.1)
    #expect(policy.contains("default-src 'none'; script-src 'nonce-\(nonce)'; style-src 'nonce-\(nonce)'"))
    #expect(policy.contains("frame-ancestors 'none'"))
    #expect(!policy.contains("unsafe"))
    #expect(other.headers["content-security-policy"] != policy)
    #expect(!one.text.contains("{{"))
    #expect(!one.text.contains("innerHTML"))
    #expect(one.text.matches(of: /(src|href)="?(https?:)?\/\//).isEmpty)
    #expect(one.headers["x-content-type-options"] == "nosniff")
    #expect(one.headers["cross-origin-resource-policy"] == "same-origin")
  }
}
