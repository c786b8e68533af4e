import BoundedQueue
import Foundation
import Locking
import TestSupport
import Testing

// The examples of the article on signals.

/// Stops a queue at signals: gently at the first, at once at the others.
final class StopSignals: Sendable {
  private let queue: BoundedOperationQueue
  private let first = Locked<Int32?>(nil)

  init(_ queue: BoundedOperationQueue) { self.queue = queue }

  /// The signal that came first; nil if none has come.
  var received: Int32? { first.withLock { $0 } }

  func receive(_ number: Int32) {
    let isFirst = first.withLock { first in
      defer { first = first ?? number }
      return first == nil
    }
    queue.stop(reason: .user, sparingRunning: isFirst)
  }

  /// The source works until it is cancelled or released.
  func listen(to number: Int32) -> any DispatchSourceSignal {
    signal(number, SIG_IGN)  // otherwise the signal ends the process
    let source = DispatchSource.makeSignalSource(signal: number, queue: DispatchQueue(label: "signals"))
    source.setEventHandler { self.receive(number) }
    source.resume()
    return source
  }
}

/// Waits until the work has ended. Once a signal has come, it waits for the limit at least, and for twice the limit at most.
///
/// - Returns: the exit status.
func finish(_ queue: BoundedOperationQueue, _ signals: StopSignals, within limit: Duration) async throws -> Int32 {
  var wasStopped = false
  while try await !queue.drain(for: limit) {
    if wasStopped {
      for operation in queue.snapshot().running { print("left behind:", operation) }
      break
    }
    wasStopped = signals.received != nil
  }
  return signals.received.map { 128 + $0 } ?? (queue.counters.failed == 0 ? 0 : 1)
}

func copy(
  _ files: [URL], to folder: URL, stoppingAt numbers: [Int32] = [SIGINT, SIGTERM]
) async throws -> Int32 {
  let queue = BoundedOperationQueue(name: "copies", maxConcurrentOperations: 4)
  let signals = StopSignals(queue)
  let sources = numbers.map { signals.listen(to: $0) }
  defer { for source in sources { source.cancel() } }
  do {
    for file in files {
      let copy = folder.appending(path: file.lastPathComponent)
      let operation = ResultOperation(title: "copy \(file.path)") {
        try FileManager.default.copyItem(at: file, to: copy)
      }
      try await queue.submit(operation)
    }
  } catch SubmitError.closed, SubmitError.cancelled {
    // A signal has come. What was running goes on.
  }
  return try await finish(queue, signals, within: .seconds(4))
}

extension ArticleExamples {
  @Test func filesAreCopiedUntilASignalComes() async throws {
    try await withFiles(3) { files in
      let folder = files[0].deletingLastPathComponent().appending(path: "copies")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      #expect(try await copy(files, to: folder, stoppingAt: []) == 0)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["0", "1", "2"])
      // They are there already.
      #expect(try await copy(files, to: folder, stoppingAt: []) == 1)
    }
  }

  @Test func theFirstSignalSparesWhatRunsAndTheSecondCancelsIt() async throws {
    let clock = ManualClock()
    let queue = queue(max: 1, clock: clock)
    let signals = StopSignals(queue)
    let started = Gate()
    let works = [Work.endless(started), Work("waits")]
    for work in works { try await queue.submit(work) }
    try await onThread { started.pass() }
    let blocked = (0..<5).map { _ in Task { try await queue.submit(Work()) } }
    #expect(try await eventually { queue.counters.blockedProducers == 2 })
    signals.receive(SIGTERM)
    var refused = 0
    for task in blocked {
      if case .failure(let error) = await task.result {
        #expect(error as? SubmitError == .cancelled(.user))
        refused += 1
      }
    }
    #expect(refused == 2)
    #expect(works[1].outcome?.words == "cancelled while waiting, by the user" && !works[0].isCancelled)
    await #expect(throws: SubmitError.closed) { try await queue.submit(Work()) }
    signals.receive(SIGINT)
    #expect(try await finish(queue, signals, within: .seconds(10)) == 128 + SIGTERM)
    #expect(works[0].outcome?.words == "cancelled while running, by the user")
  }

  @Test func workThatNeverChecksIsLeftBehind() async throws {
    let clock = ManualClock()
    let queue = queue(clock: clock)
    let signals = StopSignals(queue)
    let gate = Gate()
    try await queue.submit(Work(at: gate))
    async let status = finish(queue, signals, within: .seconds(10))
    // Without a signal it waits on.
    for _ in 0..<3 {
      #expect(try await eventually { clock.sleepers == 1 })
      clock.advance(by: .seconds(10))
    }
    #expect(try await eventually { clock.sleepers == 1 })
    signals.receive(SIGINT)
    for _ in 0..<2 {
      #expect(try await eventually { clock.sleepers == 1 })
      clock.advance(by: .seconds(10))
    }
    #expect(try await status == 130)
    gate.open()
    try await queue.drain()
  }
}
