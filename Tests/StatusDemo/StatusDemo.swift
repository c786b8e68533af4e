import ArgumentParser
import Foundation
import Locking
import StatusEndpoint

/// The program `status-demo`: for work on the page, and for load tests of the endpoint.
@main
struct StatusDemo: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status-demo",
    abstract: "Serves the status endpoint of a simulated run, until the run ends, or INT or TERM.")

  @Argument(help: "unix:PATH or HOST:PORT; default: a socket in the runtime folder.") var address: String?
  @Option(help: "Sources of the run.") var sources = 4000
  @Option(help: "Threads that compute without a pause, to take processor time from the endpoint.") var burn = 0

  func run() throws {
    for _ in 0..<burn { Self.startBurning() }
    let run = SimulatedRun(sources: sources)
    let chosen = ProcessInfo.processInfo.environment["THUMBJOB_TOKEN"]
    let endpoint = try StatusEndpoint.open(
      try address.map { try StatusAddress($0) }, dataSource: run, control: run, feed: run.feed,
      thumbnails: run.thumbnails, times: run.times, token: chosen.flatMap { AccessToken($0) } ?? AccessToken(),
      log: Self.printLine)
    defer { endpoint?.close() }
    Self.printLine(endpoint?.pageLink(withToken: true) ?? "\(endpoint?.address ?? .off)")
    var signals = sigset_t()
    sigemptyset(&signals)
    for signal in [SIGINT, SIGTERM] { sigaddset(&signals, signal) }
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    Thread.detachNewThread {
      while !run.hasEnded {
        run.step()
        usleep(100_000)
      }
      kill(getpid(), SIGTERM)
    }
    var signal: CInt = 0
    sigwait(&signals, &signal)
  }

  /// Writes at once, also to a pipe.
  @Sendable private static func printLine(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }

  /// The last result of a burning thread, kept so that the compiler cannot leave the computation out.
  private static let result = Locked<UInt64>(0)

  private static func startBurning() {
    DispatchQueue.global(qos: .utility).async {
      var number: UInt64 = 1
      while true {
        for _ in 0..<1_000_000 { number = number &* 6_364_136_223_846_793_005 &+ 1 }
        result.withLock { $0 = number }
      }
    }
  }
}
