import Files
import Foundation
import Locking
import TestSupport
import Testing

@testable import Fetching

/// S3 from a server that a script plays.
@Suite(.timeLimit(.minutes(2))) struct S3FetcherTests {
  private func fetcher(_ server: ScriptedServer, _ change: (inout FetchLimits) -> Void = { _ in }) throws -> Fetcher {
    var limits = FetchLimits()
    limits.allowsPrivate = true
    change(&limits)
    return try Fetcher(
      limits, userAgent: "thumbjob/test",
      environment: [
        "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "token",
        "AWS_ENDPOINT_URL": server.url(""), "AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
      ])
  }

  private func list(_ fetcher: Fetcher, _ page: String? = nil) async throws -> ObjectPage {
    let location = try StoreLocation(parsing: "s3://b/d/".utf8)
    return try await onThread { try fetcher.list(location, page: page, isCancelled: { false }) }
  }

  private static let page = Array(
    "<ListBucketResult><Contents><Key>d/x.jpg</Key></Contents></ListBucketResult>".utf8)

  @Test func aListingIsAskedForPageByPage() async throws {
    let server = ScriptedServer { request, connection in
      connection.reply(200, [], Self.page)
      return true
    }
    let fetcher = try fetcher(server)
    #expect(try await list(fetcher).objects.count == 1)
    _ = try await list(fetcher, "a/+=")
    #expect(
      server.requests.map(\.target) == [
        "/b?encoding-type=url&list-type=2&max-keys=1000&prefix=d%2F",
        "/b?continuation-token=a%2F%2B%3D&encoding-type=url&list-type=2&max-keys=1000&prefix=d%2F",
      ])
    #expect(server.requests[0].fields["x-amz-security-token"] == "token")
    #expect(server.requests[0].fields["authorization"]?.contains("Credential=id/") == true)
  }

  @Test func aBucketOfAnotherRegionIsAskedThere() async throws {
    let server = ScriptedServer { request, connection in
      if request.fields["authorization"]?.contains("/eu-north-1/") == true {
        connection.reply(200, [], Self.page)
      } else {
        connection.reply(301, ["x-amz-bucket-region: eu-north-1", "Location: http://192.0.2.1/"])
      }
      return true
    }
    let fetcher = try fetcher(server)
    #expect(try await list(fetcher).objects.count == 1)
    _ = try await list(fetcher)
    #expect(server.requests.count == 3)
  }

  @Test func aServerThatNamesEverNewRegionsIsNotFollowed() async throws {
    let server = ScriptedServer { request, connection in
      connection.reply(301, ["x-amz-bucket-region: region-\(request.number)"])
      return true
    }
    let fetcher = try fetcher(server)
    await #expect(throws: FetchError.otherRegion("region-1")) { try await list(fetcher) }
    #expect(server.requests.count == 2)
  }

  @Test func aRedirectGetsNoSignature() async throws {
    let other = ScriptedServer { _, connection in
      connection.reply(200, [], Self.page)
      return true
    }
    let server = ScriptedServer { _, connection in
      connection.reply(302, ["Location: \(other.url("/stolen"))"])
      return true
    }
    let fetcher = try fetcher(server)
    await #expect(throws: FetchError.refused(status: 302, code: "")) { try await list(fetcher) }
    #expect(other.requests.isEmpty)
  }

  @Test func aPageThatIsTooLongIsRefused() async throws {
    let server = ScriptedServer { _, connection in
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 17000000\r\n\r\n")
      connection.awaitEnd()
      return false
    }
    let fetcher = try fetcher(server)
    await #expect(throws: FetchError.badReply("it has more than 16 MiB")) { try await list(fetcher) }
  }

  @Test func aServiceThatIsBusyIsAskedAgain() async throws {
    let server = ScriptedServer { request, connection in
      if request.number == 0 {
        connection.reply(503, [], Array("<Error><Code>SlowDown</Code></Error>".utf8))
      } else {
        connection.reply(200, [], Self.page)
      }
      return true
    }
    let fetcher = try fetcher(server)
    #expect(try await list(fetcher).objects.count == 1)
    #expect(server.requests.count == 2)
  }

  @Test func aHostThatIsDownIsWaitedForOnceAndThenGivenUp() async throws {
    // Nothing listens there, so connections are refused.
    let (descriptor, port) = loopbackSocket()
    defer { close(descriptor) }
    let setup = try FetcherTests.Setup { limits in
      (limits.tries, limits.hostPause, limits.waitsForHosts) = (1, .milliseconds(300), true)
    }
    let monitor = TestMonitor()
    let start = ContinuousClock.now
    let error = await setup.failure("http://127.0.0.1:\(port)/x", monitor)
    #expect(ContinuousClock.now - start >= .milliseconds(300))
    #expect(monitor.stages.contains(.waitingToRetry))
    guard case .hostDown = error else {
      Issue.record("\(error.map { "\($0)" } ?? "no error")")
      return
    }
    #expect(error?.concernsAll == true)
  }

  /// The walk asks, and makes thumbnails meanwhile, which may take long.
  @Test func aQuestionThatTakesLongerThanThePauseDoesNoHarm() async throws {
    let server = ScriptedServer { request, connection in
      if request.number == 0 { connection.reply(503) } else { connection.reply(200, [], Self.page) }
      return true
    }
    let fetcher = try fetcher(server)
    let location = try StoreLocation(parsing: "s3://b/d/".utf8)
    let page = try await onThread {
      try fetcher.list(location, page: nil) {
        if server.requests.count == 1 { usleep(600_000) }
        return false
      }
    }
    #expect(page.objects.count == 1)
  }

  @Test func aListingThatIsCancelledEndsAtOnce() async throws {
    let server = ScriptedServer { _, connection in
      connection.awaitEnd()
      return false
    }
    let fetcher = try fetcher(server)
    let location = try StoreLocation(parsing: "s3://b".utf8)
    let asked = Locked(0)
    await #expect(throws: FetchError.cancelled) {
      try await onThread {
        try fetcher.list(location, page: nil) {
          asked.withLock { asked in
            asked += 1
            return asked > 3 && !server.requests.isEmpty
          }
        }
      }
    }
  }
}
