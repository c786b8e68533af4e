import BoundedQueue
import CoreMetrics
import InMemoryLogging
import InMemoryTracing
import Logging
import MetricsTestKit
import ServiceLifecycle
import ServiceLifecycleTestKit
import Tracing

// Each part prints what it has seen; test_hooks.py knows what is right.

// The examples of the article BesideOtherPackages.

func serve(_ server: some Service, on queue: BoundedOperationQueue, logger: Logger) async throws {
  let group = ServiceGroup(
    services: [QueueService(queue, drainingFor: .seconds(20)), server],
    gracefulShutdownSignals: [.sigterm], logger: logger)
  try await group.run()
}

func watch(_ queue: BoundedOperationQueue, logger: Logger) {
  queue.log(to: logger)
  queue.recordMetrics(label: "pages")
  queue.trace()
}

struct Refusal: Error {}

/// One operation that succeeds, one that fails, and one that is cancelled while it waits.
func runThree(on queue: BoundedOperationQueue) async throws {
  let good = ResultOperation(title: "good") { () async throws -> Int in 1 }
  let bad = ResultOperation(title: "bad", key: "user") { () async throws -> Int in throw Refusal() }
  try await queue.submit(good)
  try await queue.submit(bad)
  try await queue.drain()
  queue.pause()
  try await queue.submit(ResultOperation(title: "late") { () async throws -> Int in 2 })
  queue.cancelAll(reason: .user)
  queue.resume()
  try await queue.drain()
}

func showLogging() async throws {
  let queue = BoundedOperationQueue(name: "logged", maxConcurrentOperations: 1)
  let handler = InMemoryLogHandler()
  var logger = Logger(label: "test") { _ in handler }
  logger.logLevel = .debug
  queue.log(to: logger)
  try await runThree(on: queue)
  for entry in handler.entries {
    print("log", entry.level, entry.message, entry.metadata["queue"] ?? "-", entry.metadata["key"] ?? "-")
  }
}

func showMetrics() async throws {
  let queue = BoundedOperationQueue(name: "measured", maxConcurrentOperations: 1)
  let metrics = TestMetrics()
  queue.recordMetrics(label: "pages", factory: metrics)
  try await runThree(on: queue)
  try await queue.submit(ResultOperation(title: "last") { 3 })
  try await queue.drain()
  for outcome in ["succeeded", "failed", "cancelled"] {
    let counter = try metrics.expectCounter("pages_ended", [("queue", "measured"), ("outcome", outcome)])
    print("metrics", outcome, counter.totalValue)
  }
  print("metrics waited", try metrics.expectTimer("pages_waited", [("queue", "measured")]).values.count)
  print("metrics ran", try metrics.expectTimer("pages_ran", [("queue", "measured")]).values.count)
  print("metrics waiting", try metrics.expectMeter("pages_waiting", [("queue", "measured")]).lastValue ?? -1)
  print("metrics running", try metrics.expectMeter("pages_running", [("queue", "measured")]).lastValue ?? -1)
}

/// Makes a span of its own on a thread of the queue.
final class Step: BoundedOperation, @unchecked Sendable {  // adds a constant
  private let tracer: InMemoryTracer

  init(_ tracer: InMemoryTracer) {
    self.tracer = tracer
    super.init(title: "step 7", kind: "step")
  }

  override func execute() throws { tracer.withSpan("inner of step") { _ in } }
}

extension OperationSnapshot.State {
  var isRunning: Bool { if case .running = self { true } else { false } }
}

func showTracing() async throws {
  let queue = BoundedOperationQueue(name: "traced", maxConcurrentOperations: 2)
  let tracer = InMemoryTracer()
  queue.trace(with: tracer)
  try await tracer.withSpan("request") { _ in
    try await queue.submit(Step(tracer))
    try await queue.submit(
      ResultOperation(title: "load") { () async throws -> Int in
        tracer.withSpan("inner of load") { _ in }
        throw Refusal()
      })
    let endless = ResultOperation(title: "endless", kind: "sleep") { try await Task.sleep(for: .seconds(600)) }
    try await queue.submit(endless)
    while endless.outcome == nil, queue.snapshot(of: endless.id)?.state.isRunning != true { await Task.yield() }
    endless.cancel()
    try await queue.drain()
  }
  queue.trace(with: nil)
  try await queue.submit(ResultOperation(title: "untraced") { 1 })
  try await queue.drain()
  let spans = tracer.finishedSpans
  let names = Dictionary(uniqueKeysWithValues: spans.map { ($0.spanID, $0.operationName) })
  for span in spans.sorted(by: { $0.operationName < $1.operationName }) {
    print("span", span.operationName, "in", span.parentSpanID.flatMap { names[$0] } ?? "-", span.errors.count, "errors")
  }
}

func showService() async throws {
  let queue = BoundedOperationQueue(name: "served", maxConcurrentOperations: 1)
  try await testGracefulShutdown { trigger in
    let slow = ResultOperation(title: "slow") {
      try await Task.sleep(for: .milliseconds(50))
      return 1
    }
    try await queue.submit(slow)
    async let service: Void = QueueService(queue).run()
    trigger.triggerGracefulShutdown()
    await service
    print("service", slow.outcome.map { "\($0)" } ?? "not ended")
  }
  do {
    try await queue.submit(ResultOperation(title: "late") { 1 })
  } catch {
    print("service later:", error)
  }
  let limited = BoundedOperationQueue(name: "limited", maxConcurrentOperations: 1)
  try await testGracefulShutdown { trigger in
    let endless = ResultOperation(title: "endless") { try await Task.sleep(for: .seconds(600)) }
    try await limited.submit(endless)
    async let service: Void = QueueService(limited, drainingFor: .milliseconds(50)).run()
    trigger.triggerGracefulShutdown()
    await service
    print("service with a limit:", endless.outcome.map { "\($0)" } ?? "not ended")
  }
}

/// Ends the group, as a server does that is told to stop.
struct Ending: Service {
  func run() async throws {}
}

func showGroup() async throws {
  let queue = BoundedOperationQueue(name: "watched", maxConcurrentOperations: 1)
  let handler = InMemoryLogHandler()
  watch(queue, logger: Logger(label: "test") { _ in handler })
  try await queue.submit(ResultOperation(title: "last") { 1 })
  do {
    try await serve(Ending(), on: queue, logger: Logger(label: "test") { _ in handler })
  } catch {
    print("group fails:", error is ServiceGroupError)
  }
  print("group left", queue.counters.waiting + queue.counters.running)
}

try await showLogging()
try await showMetrics()
try await showTracing()
try await showService()
try await showGroup()
