import BoundedQueue
import Foundation
import Locking
import TestSupport
import Testing

// The examples of the article on async/await.

func sizesWithTasks(of pages: [URL]) async throws -> [Int] {
  let tasks = pages.map { page in Task { try await load(page).count } }  // all requests at once
  var sizes: [Int] = []
  for task in tasks { sizes.append(try await task.value) }
  return sizes
}

func sizes(of pages: [URL]) async throws -> [Int] {
  try await withBoundedQueue(name: "pages", maxConcurrentOperations: 4) { queue in
    var operations: [ResultOperation<Int>] = []
    for page in pages {
      let operation = ResultOperation(title: "size of \(page)") { try await load(page).count }
      try await queue.submit(operation)  // suspends while 4 run and 16 wait
      operations.append(operation)
    }
    var sizes: [Int] = []
    for operation in operations { sizes.append(try await operation.result) }
    return sizes
  }
}

func load(_ page: URL, on queue: BoundedOperationQueue) async throws -> Data {
  try await queue.result(of: ResultOperation(title: "load \(page)") { try await load(page) })
}

enum Visitor {
  @TaskLocal static var name = "nobody"
}

func greeting(to name: String, on queue: BoundedOperationQueue) async throws -> String {
  let operation = ResultOperation(title: "greeting") { () async throws -> String in "welcome, \(Visitor.name)" }
  try await Visitor.$name.withValue(name) { try await queue.submit(operation) }
  return try await operation.result
}

func failures(of pages: [URL], on queue: BoundedOperationQueue) async throws -> [String] {
  let events = queue.events(bufferingNewest: 1000)  // keeps events from now on
  let reader = Task {
    var failures: [String] = []
    for await event in events {
      if case .ended(.failed) = event.change { failures.append(event.operation.title) }
    }
    return failures
  }
  for page in pages { try await queue.submit(ResultOperation(title: page.path()) { try await load(page) }) }
  try await queue.drain()
  reader.cancel()  // it still reads the events that are in the buffer
  return await reader.value
}

struct ServerBusy: Error {}

func loadPatiently(_ page: URL, on queue: BoundedOperationQueue) async throws -> Data {
  let policy = RetryPolicy(attempts: 5, firstDelay: .milliseconds(200)) { $0 is ServerBusy }
  return try await queue.result(retrying: policy) { attempt in
    ResultOperation(title: "load \(page), attempt \(attempt)", timeLimit: .seconds(30)) { try await load(page) }
  }
}

final class Previews: Sendable {
  private let shared: SharedResults<URL, Data>

  init(_ queue: BoundedOperationQueue) { shared = SharedResults(queue) }

  func preview(of page: URL) async throws -> Data {
    try await shared.value(for: page) {
      ResultOperation(title: "preview of \(page)") { try await load(page).prefix(3) }
    }
  }
}

@concurrent func sumOfSquares(below count: Int) async throws -> Int {
  let sum = Locked(0)
  try await withBoundedQueue(maxConcurrentOperations: 2) { queue in
    for number in 0..<count {
      try await queue.submit(ResultOperation(title: "\(number)²") { sum.withLock { $0 += number * number } })
    }
  }
  return sum.withLock { $0 }
}

@MainActor func showSum() async throws { print(try await sumOfSquares(below: 1000)) }

// The examples of the doc comments of `RetryPolicy` and `SharedResults`.

func loadPage(at url: URL, of host: String, on queue: BoundedOperationQueue) async throws -> Data {
  let policy = RetryPolicy(attempts: 5, firstDelay: .milliseconds(200)) { error in error is ServerBusy }
  let page = try await queue.result(retrying: policy) { attempt in
    ResultOperation(title: "page, attempt \(attempt)", key: host) { try await load(url) }
  }
  return page
}

func preview(of path: String, on queue: BoundedOperationQueue) async throws -> [UInt8] {
  let previews = SharedResults<String, [UInt8]>(queue)
  // A hundred requests for one photo make one preview.
  let preview = try await previews.value(for: path) {
    ResultOperation(title: "preview of \(path)") { try render(path) }
  }
  return preview
}

/// Stands for work of the reader's.
private func render(_ path: String) throws -> [UInt8] { Array(path.utf8.prefix(2)) }

/// Stands for a request of the reader's.
private func load(_ page: URL) async throws -> Data {
  switch page.path() {
  case "/missing": throw CocoaError(.fileNoSuchFile)
  case "/busy": throw ServerBusy()
  case "/endless": try await Task.sleep(for: .seconds(1000))
  default: break
  }
  return Data(page.path().utf8)
}

extension ArticleExamples {
  private func page(_ path: String) throws -> URL { try #require(URL(string: "https://host.example/\(path)")) }

  @Test func theQueueFindsTheSameSizesAsTheTasks() async throws {
    let pages = try (0..<30).map { try page(String(repeating: "x", count: $0)) }
    let expected = (1...30).map { $0 }
    #expect(try await sizes(of: pages) == expected)
    #expect(try await sizesWithTasks(of: pages) == expected)
    let missing = [try page("missing")]
    await #expect(throws: CocoaError.self) { try await sizes(of: missing) }
  }

  @Test func aCancelledReaderCancelsItsOperation() async throws {
    let queue = queue()
    let endless = try page("endless")
    let reader = Task { try await load(endless, on: queue) }
    #expect(try await eventually { queue.counters.running == 1 })
    reader.cancel()
    await #expect(throws: CancellationError.self) { try await reader.value }
    try await queue.drain()
    #expect(queue.counters.cancelled == 1)
    #expect(try await load(page("abc"), on: queue) == Data("/abc".utf8))
  }

  @Test func theWorkKnowsTheVisitorOfItsProducer() async throws {
    #expect(try await greeting(to: "ann", on: queue()) == "welcome, ann")
    // Work on a thread does not.
    let queue = queue()
    let onThread = ResultOperation(title: "on a thread") { Visitor.name }
    try await Visitor.$name.withValue("ann") { try await queue.submit(onThread) }
    #expect(try await onThread.result == "nobody")
  }

  @Test func theEventsNameWhatFailed() async throws {
    let pages = try ["a", "missing", "b", "busy"].map { try page($0) }
    #expect(try await failures(of: pages, on: queue(max: 1)) == ["/missing", "/busy"])
  }

  @Test func aBusyServerIsAskedFiveTimes() async throws {
    let clock = ManualClock()
    let queue = queue(clock: clock)
    let busy = try page("busy")
    let loading = Task { try await loadPatiently(busy, on: queue) }
    for attempt in 1...4 {
      #expect(try await eventually { queue.counters.failed == attempt })
      #expect(
        try await eventually {
          if queue.counters.submitted == attempt { clock.advance(by: .seconds(1)) }
          return queue.counters.submitted > attempt
        })
    }
    await #expect(throws: ServerBusy.self) { try await loading.value }
    #expect(try await loadPatiently(page("abc"), on: queue) == Data("/abc".utf8))
    await #expect(throws: CocoaError.self) { try await loadPatiently(page("missing"), on: queue) }
    try await queue.drain()
    #expect(queue.counters.failed == 6)
  }

  @Test func previewsAndSums() async throws {
    #expect(try await Previews(queue()).preview(of: page("abc")) == Data("/ab".utf8))
    #expect(try await preview(of: "/abc", on: queue()) == Array("/a".utf8))
    #expect(try await loadPage(at: page("abc"), of: "host", on: queue()) == Data("/abc".utf8))
    #expect(try await sumOfSquares(below: 4) == 14)
    try await showSum()
  }
}
