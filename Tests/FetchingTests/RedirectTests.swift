import TestSupport
import Testing

@testable import Fetching

/// Redirects that a proxy would follow to wherever they lead, so that they must be understood as libcurl does.
@Suite(.timeLimit(.minutes(2))) struct RedirectTests {
  private func host(after location: String, from url: String = "https://a.example:8443/d/x.jpg") throws -> String? {
    try RemoteURL(parsing: url.utf8).redirected(to: location)?.authority
  }

  @Test(arguments: [
    ("http://b/y.jpg", "b"), ("HTTP://B:81/", "b:81"), ("//b/y", "b"), ("/y.jpg", "a.example:8443"),
    ("y.jpg?u=http://b/", "a.example:8443"), ("?q", "a.example:8443"), ("#f", "a.example:8443"), ("", "a.example:8443"),
    ("/a b.jpg", "a.example:8443"), ("/é.jpg", "a.example:8443"), ("http://b/a b é.jpg", "b"),
    ("/\\169.254.169.254/", "a.example:8443"), ("\\\\169.254.169.254/", "a.example:8443"),
    ("http://u:w@169.254.169.254/", "169.254.169.254"), ("http://b c@169.254.169.254/", "169.254.169.254"),
    ("http://169.254.169.254\\@b/", "b"), ("http://169.254.169.254#@b/", "169.254.169.254"),
    ("http://169.254.169.254?@b/", "169.254.169.254"),
  ])
  func aRedirectLeadsToAServer(location: String, server: String) throws {
    #expect(try host(after: location) == server, "\(location)")
  }

  @Test(arguments: [
    "http:/169.254.169.254/", "http:169.254.169.254", "http:///169.254.169.254/", "///169.254.169.254/",
    "\u{b}http://169.254.169.254/", "ht\ttp://169.254.169.254/", "file:///etc/passwd", "ftp://b/", "javascript:1",
    "http://%31%36%39.254.169.254/", "http://１６９.254.169.254/", "http://b:99999/",
    "http://a b/", "http:\\\\169.254.169.254/", "https:", "x:y",
  ])
  func aRedirectThatIsNoURLIsRefused(location: String) throws {
    #expect(try host(after: location) == nil, "\(location)")
  }

  @Test(arguments: ["169.254.169.254", "169.254.169.254.", "0xa9.0xfe.0xa9.0xfe", "2852039166"])
  func aProxyIsNotAskedForAnAddressInAnyForm(host: String) throws {
    let rules = AllowedAddresses(allowsPrivate: false, environment: [:])
    #expect(try rules.refusal(of: RemoteURL(parsing: "http://\(host)/".utf8)) == "169.254.169.254")
  }

  private func header(_ lines: [String]) throws -> ReplyHeader {
    var header = ReplyHeader()
    for line in lines + [""] {
      _ = try Array((line + "\r\n").utf8).withUnsafeBufferPointer { try header.read($0, now: 0) }
    }
    return header
  }

  @Test func everyStatusThatLibcurlFollowsIsARedirect() throws {
    for status in [300, 301, 302, 303, 304, 305, 307, 308, 399] {
      #expect(try header(["HTTP/1.1 \(status) Text", "Location: /a"]).isRedirect, "\(status)")
      #expect(try !header(["HTTP/1.1 \(status) Text", "Location:"]).isRedirect, "\(status)")
    }
    for status in [200, 201, 299, 400] { #expect(try !header(["HTTP/1.1 \(status) Text", "Location: /a"]).isRedirect) }
  }

  @Test func onlyTheFirstLineOfAHeaderHasItsStatus() throws {
    let header = try header(["HTTP/1.1 302 Found", "Location: /a", "HTTP/1.1 200 OK: x"])
    #expect(header.status == 302 && header.isRedirect)
  }

  @Test(arguments: [
    "Location: /b\r\nLocation: /c", "Location: /b\r\n c", "Location: http:/127.0.0.1/", "Location: /\u{1}",
  ])
  func anAmbiguousRedirectIsNotFollowed(lines: String) async throws {
    let server = ScriptedServer { _, connection in
      connection.reply(302, [lines])
      return true
    }
    defer { server.stop() }
    let error = try await FetcherTests.Setup { $0.tries = 1 }.failure(server.url())
    #expect(error != nil && server.requests.count == 1, "\(String(describing: error)) \(server.requests)")
  }

  @Test func theSameRedirectTwiceAndOneWithSpacesAreFollowed() async throws {
    let server = ScriptedServer { request, connection in
      switch request.target {
      case "/a.jpg": connection.reply(302, ["Location: /d/b c.jpg", "Location: /d/b c.jpg", "Location: "])
      case "/d/b%20c.jpg": connection.reply(307, ["Location:  d.jpg?x=http://y/z"])
      case "/d/d.jpg?x=http://y/z": connection.reply(200, [], [1])
      default: connection.reply(404)
      }
      return true
    }
    defer { server.stop() }
    #expect(try await FetcherTests.Setup().fetch(server.url()).1 == [1], "\(server.requests)")
  }

  @Test func eachRedirectIsReadFromTheServerThatSentIt() async throws {
    let last = ScriptedServer { request, connection in
      if request.target == "/y" { connection.reply(302, ["Location: /z"]) } else { connection.reply(200, [], [2]) }
      return true
    }
    defer { last.stop() }
    let first = ScriptedServer { _, connection in
      connection.reply(301, ["Location: //localhost:\(last.port)/y"])
      return true
    }
    defer { first.stop() }
    #expect(try await FetcherTests.Setup().fetch(first.url()).1 == [2])
    #expect(last.requests.map(\.target) == ["/y", "/z"] && first.requests.count == 1)
  }
}
