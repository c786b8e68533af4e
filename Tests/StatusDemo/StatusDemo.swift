import Foundation
import Locking
import StatusEndpoint

/// Serves the status endpoint of a run that is made up, to look at the page, and to throw requests at:
/// `status-demo [ADDRESS] [--burn N]`, with N threads that do nothing but compute.
@main
struct StatusDemo {
  static func main() throws {
    var arguments = Array(CommandLine.arguments.dropFirst())
    if let flag = arguments.firstIndex(of: "--burn"), arguments.indices.contains(flag + 1) {
      for _ in 0..<(Int(arguments[flag + 1]) ?? 0) { burn() }
      arguments.removeSubrange(flag...flag + 1)
    }
    let run = InventedRun()
    let chosen = ProcessInfo.processInfo.environment["THUMBJOB_TOKEN"]
    let endpoint = try StatusEndpoint.open(
      try arguments.first.map { try StatusAddress($0) }, dataSource: run, control: run, feed: run.feed,
      thumbnails: run.thumbnails, times: run.times, token: chosen.flatMap { AccessToken($0) } ?? AccessToken(),
      log: say)
    defer { endpoint?.close() }
    say(endpoint?.pageLink(withToken: true) ?? "\(endpoint?.address ?? .off)")
    var signals = sigset_t()
    sigemptyset(&signals)
    for signal in [SIGINT, SIGTERM] { sigaddset(&signals, signal) }
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    Thread.detachNewThread {
      while true {
        run.step()
        usleep(100_000)
      }
    }
    var signal: CInt = 0
    sigwait(&signals, &signal)
  }

  @Sendable private static func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }

  /// What is computed, so that it has to be.
  private static let result = Locked<UInt64>(0)

  private static func burn() {
    DispatchQueue.global(qos: .utility).async {
      var number: UInt64 = 1
      while true {
        for _ in 0..<1_000_000 { number = number &* 6_364_136_223_846_793_005 &+ 1 }
        result.withLock { $0 = number }
      }
    }
  }
}
