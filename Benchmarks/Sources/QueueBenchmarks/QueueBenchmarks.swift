import ArgumentParser
import Foundation
import Measuring

/// What the bounded queue costs, beside Foundation's operation queue and plain GCD.
@main
struct QueueBenchmarks: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench-queue",
    abstract: "Operations per second, latency to start and to cancel, and the cost of a look, as tables in Markdown.")

  @Option(help: "Rounds; in each, everything has its turn.")
  var rounds = 5

  @Option(help: "Operations running at once.")
  var max = 2

  @Option(help: "Write all figures there.")
  var json: String?

  func validate() throws {
    guard rounds > 0, max > 0 else { throw ValidationError("--rounds and --max start at 1") }
  }

  func run() throws {
    let kinds: [[any Benchmark]] = [Throughput.all, StartLatency.all, CancelLatency.all, SnapshotCost.all]
    let benchmarks = kinds.flatMap { $0 }
    var measured = Measurements()
    // Once, and first: an OperationQueue would not have to wait for the threads that others leave in the pool.
    for benchmark in SleepingOperations.all { benchmark.run(max: max, into: &measured) }
    for round in 0..<rounds {
      for own in turns(of: benchmarks.count, in: round) { benchmarks[own].run(max: max, into: &measured) }
    }
    let report = Report(measured)
    if let json { try report.write(to: json) }
    print("Medians of \(rounds) rounds, max \(max); \(report.title).\n\n\(measured.tables)")
  }
}
