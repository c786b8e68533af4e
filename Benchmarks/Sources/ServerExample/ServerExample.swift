import ArgumentParser
import BoundedQueue
import Foundation
import Hummingbird
import Logging

/// A server whose work is bounded: `GET /digest/SEED` computes for a while with 8 MiB of memory. Eight requests are under way at
/// once, two for each client, and together they hold at most 32 MiB. Those beyond the backlog are refused at once, so neither
/// memory nor the time to an answer grows with the number of clients. TERM lets accepted requests finish.
@main
struct ServerExample: AsyncParsableCommand {
  @Option var port = 8080
  @Option(help: "Requests under way at once.") var places = 8
  @Option(help: "Accepted requests that wait.") var backlog = 64

  static let bytesOfWork = 8 << 20

  func run() async throws {
    let queue = BoundedOperationQueue(
      name: "requests", maxConcurrentOperations: places, backlog: backlog, budget: MemoryBudget(bytes: 32 << 20),
      perKey: 2)
    let shared = SharedResults<Int, UInt64>(queue)

    let router = Router()
    router.get("digest/:seed") { request, context -> String in
      let seed = try context.parameters.require("seed", as: Int.self)
      let work = ResultOperation(
        title: "digest of \(seed)", key: request.headers[.authorization], reserving: Self.bytesOfWork,
        timeLimit: .seconds(10)
      ) { Self.digest(seed: seed) }
      guard try queue.trySubmit(work) else { throw Self.busy }
      // A client that leaves cancels its work.
      return try await withTaskCancellationHandler {
        "\(try await work.result)\n"
      } onCancel: {
        work.cancel()
      }
    }
    // Clients who ask for the same at the same time share the work.
    router.get("shared/:seed") { _, context -> String in
      let seed = try context.parameters.require("seed", as: Int.self)
      if queue.counters.waiting >= queue.limits.backlog { throw Self.busy }
      let value = try await shared.value(for: seed) {
        ResultOperation(title: "shared digest of \(seed)", reserving: Self.bytesOfWork) { Self.digest(seed: seed) }
      }
      return "\(value)\n"
    }
    router.get("status") { _, _ -> String in
      let snapshot = queue.snapshot(waitingLimit: 20)
      return (snapshot.running + snapshot.waiting).map { "\($0)\n" }.joined() + "\(snapshot.counters)\n"
    }

    var logger = Logger(label: "server")
    logger.logLevel = .error
    let server = Application(
      router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)), logger: logger)
    // Ends after TERM or INT, when the last answer is sent.
    try await server.runService()
    queue.close()
    let isIdle = try await queue.drain(for: .seconds(10))
    print("ended, \(isIdle ? "idle" : "not idle"): \(queue.counters)")
  }

  private static let busy = HTTPError(
    .serviceUnavailable, headers: [.retryAfter: "1"], message: "too many requests are waiting")

  /// Fills 8 MiB, and reads it a few times.
  private static func digest(seed: Int) -> UInt64 {
    var numbers = [UInt64](repeating: 0, count: bytesOfWork / 8)
    var state = UInt64(truncatingIfNeeded: seed)
    for index in numbers.indices {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      numbers[index] = state
    }
    return numbers.reduce(0) { $0 &* 31 &+ $1 }
  }
}
