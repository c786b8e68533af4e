import Files
import Foundation
import TestSupport
import Testing

@testable import StatusEndpoint

@Suite(.timeLimit(.minutes(5))) struct EventTests {
  private static func listener(_ served: ServedRun) async throws -> RawClient {
    let address = served.endpoint.address
    return try await onThread {
      let client = try RawClient(address)
      client.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
      _ = client.receive(until: "event: counters")
      return client
    }
  }

  @Test func changesArriveAtOnceAndInOrder() async throws {
    let served = try await ServedRun.open()
    let client = try await Self.listener(served)
    served.feed.post(.operation(FakeRun.running))
    served.feed.post(.pressure(PressureStatus(level: .critical, source: "psi")))
    served.feed.post(.limits(RunLimits(max: 1, backlog: 2, budgetBytes: 3)))
    served.feed.post(.run(.paused, pausedBy: [.pressure]))
    served.feed.post(.run(.running))
    let text = try await onThread { client.receive(until: "event: run\ndata: {\"state\":\"running\"}") }
      .replacing("\r\n", with: "\n")  // from the chunked encoding
    let events = text.components(separatedBy: "\n").filter { $0.hasPrefix("event: ") && $0 != "event: counters" }
    #expect(events == ["event: operation", "event: pressure", "event: limits", "event: run", "event: run"])
    #expect(text.contains("data: {\"paused_by\":[\"pressure\"],\"state\":\"paused\"}\n"))
    let data = try #require(text.components(separatedBy: "event: operation\ndata: ").last?.split(separator: "\n").first)
    #expect(try JSONText.decode(OperationStatus.self, from: data.utf8) == FakeRun.running)
  }

  @Test func countersArriveEachSecond() async throws {
    let served = try await ServedRun.open()
    let client = try await Self.listener(served)
    let start = ContinuousClock.now
    // On a busy machine the first may be late, and the next may follow at once.
    try await onThread { for _ in 0..<5 { #expect(client.receive(until: "event: counters").contains("counters")) } }
    #expect((.seconds(3)...(.seconds(30))).contains(.now - start))
  }

  @Test(arguments: [(0, [Int]()), (2, [3, 2]), (48, [3, 2, 1])])
  func atTheEndTheLatestThumbnailsComeBeforeTheOutcome(wanted: Int, ids: [Int]) async throws {
    let served = try await ServedRun.open()
    let (address, endpoint) = (served.endpoint.address, served.endpoint)
    for number in 1...3 {
      [UInt8](repeating: UInt8(number), count: 10).withUnsafeBytes {
        served.thumbnails.insert($0, operation: number, source: Path("\(number).jpg"), width: 3, height: 2)
      }
    }
    let text = try await onThread {
      let client = try RawClient(address)
      client.send("GET /events?thumbnails=\(wanted) HTTP/1.1\r\nHost: localhost\r\n\r\n")
      _ = client.receive(until: "event: counters")
      endpoint.close()
      return client.receive(until: "no such text")
    }
    // From the chunked encoding.
    let parts = text.replacing("\r\n", with: "\n").components(separatedBy: "event: ").dropFirst()
    #expect(parts.last?.hasPrefix("counters\n") == true)
    let brought = parts.filter { $0.hasPrefix("thumbnails\n") }
    #expect(brought.count == (wanted > 0 ? 1 : 0))
    guard let line = brought.first?.split(separator: "\n").first(where: { $0.hasPrefix("data: ") }) else { return }
    let pictures = try JSONText.decode(LatestThumbnails.Pictures.self, from: line.dropFirst(6).utf8).thumbnails
    #expect(pictures.map(\.thumbnail.id) == ids)
    #expect(pictures.allSatisfy { $0.file == Data(repeating: UInt8($0.thumbnail.id), count: 10) })
  }

  @Test func noChangeIsCreatedWithoutListeners() async throws {
    let served = try await ServedRun.open()
    let built = LockedBox(0)
    let change: @Sendable () -> StateChange = {
      built.change { $0 += 1 }
      return .run(.running)
    }
    served.feed.post(change())
    #expect(built.value == 0)
    let client = try await Self.listener(served)
    served.feed.post(change())
    #expect(built.value == 1)
    withExtendedLifetime(client) {}
  }

  @Test func aListenerThatDisconnectsIsRemoved() async throws {
    let served = try await ServedRun.open()
    do {
      let client = try await Self.listener(served)
      #expect(served.feed.hasListeners)
      withExtendedLifetime(client) {}
    }
    #expect(try await eventually { !served.feed.hasListeners })
  }

  @Test func theNumberOfListenersIsLimited() async throws {
    var limits = EndpointLimits()
    limits.listeners = 2
    let served = try await ServedRun.open(limits: limits)
    let first = try await Self.listener(served)
    do {
      let second = try await Self.listener(served)
      let third = try await served.ask("GET", "/events")
      #expect(third.status == 503 && third.headers["retry-after"] != nil)
      withExtendedLifetime(second) {}
    }
    #expect(
      try await eventually {
        guard let listener = served.feed.listen() else { return false }
        served.feed.remove(listener)
        return true
      })
    withExtendedLifetime(first) {}
  }

  @Test func aSlowListenerLosesEventsAndLearnsHowMany() async throws {
    var limits = EndpointLimits()
    limits.eventsWaiting = 50
    let served = try await ServedRun.open(limits: limits)
    let client = try await Self.listener(served)
    // Posting does not wait for the client to read.
    let (feed, count) = (served.feed, 100_000)
    let took = try await onThread {
      let start = ContinuousClock.now
      for _ in 0..<count { feed.post(.operation(FakeRun.waiting)) }
      return ContinuousClock.now - start
    }
    #expect(took < .seconds(45))
    feed.post(.run(.stopping))
    let text = try await onThread { client.receive(until: "\"state\":\"stopping\"}\n") }
    let lost = text.matches(of: /event: lost\ndata: \{"count":([0-9]+)\}/).compactMap { Int($0.output.1) }.reduce(0, +)
    let arrived = text.components(separatedBy: "event: operation\n").count - 1
    #expect(lost > 0)
    #expect(lost + arrived == count)
  }

  @Test func aWaitingListenerIsWokenByTheEnd() async {
    let listener = EventListener(capacity: 1)
    let waiting = Task { await listener.next() }
    listener.finish()
    #expect(await waiting.value.isLast)
    #expect(await listener.next().isLast)
    let cancelled = Task { await EventListener(capacity: 1).next() }
    cancelled.cancel()
    #expect(await cancelled.value.isLast)
  }
}
