import Files
import Foundation
import TestSupport
import Testing

@testable import Fetching

/// What is said of connections that do not come about, and of the proxies that make them.
@Suite(.timeLimit(.minutes(2))) struct ConnectionTests {
  /// What libcurl reports, as an error.
  private func error(_ code: Int32, _ text: String, from url: String = "https://h/") throws -> FetchError {
    let server = try RemoteURL(parsing: url.utf8)
    return CurlCode.error(code, text, from: server, received: 0, of: nil, FetchLimits())
  }

  @Test func theProxyIsNamedIfItRefuses() throws {
    for text in ["CONNECT tunnel failed, response 403", "Received HTTP code 403 from proxy after CONNECT"] {
      #expect(try error(56, text) == .proxyRefused(403))
    }
    #expect("\(FetchError.proxyRefused(403))" == "the proxy makes no connection (status 403)")
    #expect("\(FetchError.proxyRefused(407))" == "the proxy wants a login (status 407)")
    #expect(FetchError.proxyRefused(503).mayBeTemporary && !FetchError.proxyRefused(407).mayBeTemporary)
    #expect(try error(56, "Recv failure: Connection reset by peer") == .cutOff(received: 0, of: nil))
    #expect(try error(56, "Proxy CONNECT aborted") == .cannotConnect("Proxy CONNECT aborted"))
    #expect(try error(5, "Could not resolve proxy: p") == .cannotConnect("Could not resolve proxy: p"))
  }

  @Test func whatIsSlowIsSaid() throws {
    let slow = "Operation too slow. Less than 1 bytes/sec transferred the last 30 seconds"
    let late = "Connection timed out after 15001 milliseconds"
    for (url, isSecure) in [("http://h/", false), ("https://h/", true)] {
      #expect(try error(28, slow, from: url) == .stalled(.seconds(30)))
      #expect(try error(28, late, from: url) == .connectTimedOut(.seconds(15), isSecure: isSecure))
    }
  }

  @Test func aHandshakeThatStallsIsNamed() async throws {
    let server = ScriptedServer { _, connection in
      connection.awaitEnd()
      return false
    }
    defer { server.stop() }
    let setup = try FetcherTests.Setup { ($0.connectTimeout, $0.tries) = (.seconds(1), 1) }
    let error = await setup.failure(server.url().replacing("http:", with: "https:"))
    #expect(error.map { "\($0)" } == "no secure connection within 1.0 seconds")
  }

  /// A server that closes each connection after a byte.
  @Test(arguments: [false, true])
  func aConnectionThatBreaksInTheHandshakeMayBeTriedAgain(byReset: Bool) async throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_in()
    (address.sin_family, address.sin_addr.s_addr) = (sa_family_t(AF_INET), UInt32(0x7f00_0001).bigEndian)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, 8) == 0 && getsockname(listener, $0, &length) == 0
      }
    }
    #expect(isBound)
    Thread.detachNewThread {
      let client = accept(listener, nil, nil)
      var byte: UInt8 = 0
      recv(client, &byte, 1, 0)
      if byReset {
        ScriptedServer.Connection(socket: client).reset()
      } else {
        // All is read, so that the end is no reset.
        var rest = [UInt8](repeating: 0, count: 4096)
        recv(client, &rest, rest.count, 0)
      }
      close(client)
    }
    let url = "https://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/"
    let error = try await FetcherTests.Setup { $0.tries = 1 }.failure(url)
    if case .cannotConnect = error {} else { Issue.record("\(String(describing: error))") }
    #expect(error?.mayBeTemporary == true)
  }

  @Test func aServerThatSpeaksNoTLSIsNotTriedAgain() throws {
    let error = try error(35, "OpenSSL/3.0.19: error:0A00010B:SSL routines::wrong version number")
    #expect(!error.mayBeTemporary)
  }

  // MARK: Proxies

  @Test func theNamesOfProxiesAreLookedUpWhenTheyAreNeededAndAgain() {
    let known = LockedBox(["proxy.example": [[10, 0, 0, 1] as [UInt8]]])
    let asked = LockedBox(0)
    let rules = AllowedAddresses(allowsPrivate: false, environment: ["http_proxy": "proxy.example:3128"]) { name in
      asked.change { $0 += 1 }
      return known.value[name] ?? []
    }
    func isAllowed(_ last: UInt32) -> Bool {
      var address = sockaddr_in()
      (address.sin_family, address.sin_port) = (sa_family_t(AF_INET), in_port_t(3128).bigEndian)
      address.sin_addr.s_addr = (0x0a00_0000 | last).bigEndian
      return withUnsafePointer(to: address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { rules.refusal(of: $0) == nil }
      }
    }
    let start = ContinuousClock.now
    #expect(asked.value == 0 && !isAllowed(1), "making the rules asks for no name")
    rules.lookUpProxies(at: start)
    #expect(isAllowed(1) && asked.value == 1)
    known.change { $0["proxy.example"] = [[10, 0, 0, 2]] }
    rules.lookUpProxies(at: start + .seconds(29))
    #expect(asked.value == 1)
    for seconds in [31, 62] {
      rules.lookUpProxies(at: start + .seconds(seconds))
      // libcurl may still know the old address.
      #expect(isAllowed(1) && isAllowed(2))
    }
    rules.lookUpProxies(at: start + .seconds(93))
    #expect(!isAllowed(1) && isAllowed(2) && asked.value == 4)
    rules.lookUpProxies(at: start + .seconds(100))
    #expect(asked.value == 5, "an address that is refused may be a new one of the proxy")
    known.change { $0 = [:] }
    rules.lookUpProxies(at: start + .seconds(131))
    #expect(isAllowed(2), "a look-up that fails changes nothing")
  }
}
