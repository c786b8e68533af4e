import BoundedQueue
import Foundation
import TestSupport
import Testing

@testable import MemoryPressure

// The examples of the article on memory.

final class LineCount: ResultOperation<Int>, @unchecked Sendable {  // adds a constant
  private let file: URL

  init(_ file: URL) {
    self.file = file
    super.init(title: "count lines of \(file.path)")
  }

  override func makeResult() throws -> Int {
    let size = try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
    return try withReservation(of: size) {  // blocks its thread until the bytes are free
      try checkCancelled()
      return try Data(contentsOf: file).count { $0 == UInt8(ascii: "\n") }
    }
  }
}

func lineCount(of file: URL, size: Int) -> ResultOperation<Int> {
  ResultOperation(title: "count lines of \(file.path)", reserving: size) {
    try Data(contentsOf: file).count { $0 == UInt8(ascii: "\n") }
  }
}

/// What a queue does while memory is short.
final class PressureResponse: Sendable {
  private let queue: BoundedOperationQueue

  init(_ queue: BoundedOperationQueue) { self.queue = queue }

  func respond(to event: PressureEvent) {
    switch event {
    case .changed(_, to: .normal, _): queue.resume(.pressure)
    case .changed(_, to: .warning, _): queue.pause(.pressure)
    case .changed(_, to: .critical, _), .criticalAgain:
      queue.pause(.pressure)
      cancelNewest()
    case .signalsLost(let cause): print("memory is watched less closely:", cause)
    }
  }

  /// The newest has done the least work. The oldest is spared, so that something comes to its end.
  private func cancelNewest() {
    let running = queue.snapshot(waitingLimit: 0).running.filter { $0.cancelReason == nil }
    if let newest = running.dropFirst().last { queue.cancel(id: newest.id, reason: .pressure) }
  }
}

extension RetryPolicy {
  static let underPressure = RetryPolicy(attempts: 10) { ($0 as? OperationCancelledError)?.reason == .pressure }
}

func countLines(in files: [URL], on queue: BoundedOperationQueue) async throws -> Int {
  try await withThrowingTaskGroup(of: Int.self) { group in
    var total = 0
    for (index, file) in files.enumerated() {
      // A task that waits takes memory, too. There are as many as the queue takes operations: 4 run and 16 wait.
      if index >= 20, let count = try await group.next() { total += count }
      group.addTask { try await queue.result(retrying: .underPressure) { _ in LineCount(file) } }
    }
    for try await count in group { total += count }
    return total
  }
}

func countLinesWithinMemory(in files: [URL]) async throws -> Int {
  let budget = MemoryBudget(bytes: MemoryLimit.ofThisProcess().bytes / 2)
  let queue = BoundedOperationQueue(name: "line counts", maxConcurrentOperations: 4, budget: budget)
  let response = PressureResponse(queue)
  let monitor = try PressureMonitor { response.respond(to: $0) }
  defer { monitor.stop() }  // keeps the monitor until here: it stops when it is released
  return try await countLines(in: files, on: queue)
}

extension ArticleExamples {
  @Test func linesAreCountedWithinTheBudget() async throws {
    let budget = MemoryBudget(bytes: 1000)
    let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 4, budget: budget)
    try await withFiles(50) { files in
      #expect(try await countLines(in: files, on: queue) == 1225)
      #expect((245...1000).contains(queue.counters.peakReserved))
      let announced = lineCount(of: files[40], size: 200)
      try await queue.submit(announced)
      #expect(try await announced.result == 40)
      await #expect(throws: SubmitError.self) { try await queue.submit(lineCount(of: files[0], size: 1001)) }
    }
  }

  @Test func underPressureTheNewestWorkIsDoneAgainLater() async throws {
    let clock = ManualClock()
    let queue = queue(clock: clock)
    let response = PressureResponse(queue)
    let cause = PressureCause(signals: .rss, reason: "a test")
    let oldest = Gate()
    try await queue.submit(Work(at: oldest))
    try await onThread { oldest.awaitArrivals(1) }
    async let result = queue.result(retrying: .underPressure) { attempt in
      ResultOperation(title: "attempt \(attempt)") { () async throws -> Int in
        if attempt == 1 { try await Task.sleep(for: .seconds(1000)) }
        return attempt
      }
    }
    #expect(try await eventually { queue.counters.running == 2 })
    response.respond(to: .changed(from: .normal, to: .warning, cause))
    #expect(queue.snapshot().pauses == .pressure && queue.counters.cancelled == 0)
    response.respond(to: .changed(from: .warning, to: .critical, cause))
    #expect(try await eventually { queue.counters.cancelled == 1 && clock.sleepers == 1 })
    response.respond(to: .criticalAgain(count: 2, cause))
    #expect(queue.snapshot().running.allSatisfy { $0.cancelReason == nil }, "the oldest is spared")
    clock.advance(by: .seconds(1))
    #expect(try await eventually { queue.counters.waiting == 1 })
    response.respond(to: .changed(from: .critical, to: .normal, cause))
    #expect(try await result == 2)
    oldest.open()
    try await queue.drain()
  }
}
