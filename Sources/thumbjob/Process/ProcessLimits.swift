import Foundation
import Sourcing

/// Checks the limits of the process before a job starts. Dispatch and Foundation cannot report that there is no further
/// thread or file: they crash or wait forever.
enum ProcessLimits {
  /// The open files that a job needs besides those of its operations: the standard streams, files of the runtime, the
  /// status endpoint, and one folder for each level of a small tree.
  private static let otherFiles = 36
  /// The files that an operation has open at once. These are most while it starts a decoder process: the source, both ends
  /// of a socket and of a pipe, and the other process's ends a second time.
  private static let filesPerOperation = 7
  /// The fewest open files that suffice to ask one job.
  private static let leastFilesOfClient = 16
  /// Threads besides those of operations: signals, replies to them, progress, the watchdog, the ledger, the status endpoint,
  /// a watch, a trace, and those of the runtime.
  private static let otherThreads = 16

  /// Raises the limit of open files as far as possible. A walk holds one folder open for each level, and many systems start
  /// with a limit of 256 or 1024.
  static func raiseOpenFiles() {
    guard var limit = openFiles() else { return }
    // Not unlimited: some systems reject that for this limit, although they report it.
    limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 65_536))
    setrlimit(resource, &limit)
  }

  /// Whether the process may open the files of the deepest walk besides those of so many operations.
  static func allowsAnyWalk(max operations: Int) -> Bool {
    problem(files: files(for: operations) + SourceWalker.maximumDepth) == nil
  }

  private static func files(for operations: Int) -> Int { otherFiles + operations * filesPerOperation }

  /// Describes the limit that is too low to run so many operations at once, and how to raise it; nil if all suffice.
  static func problem(max operations: Int) -> String? { problem(max: operations, trial(max: operations)) }

  /// As ``problem(max:)``, with a trial that the caller ends.
  static func problem(max operations: Int, _ trial: ThreadTrial) -> String? {
    let problem = problem(files: files(for: operations)) ?? problem(trial)
    return problem.map { operations > 1 ? "\($0), or lower --max" : $0 }
  }

  /// The same for a server of so many connections besides.
  static func problem(max operations: Int, connections: Int) -> String? {
    // Each connection has a socket and a file.
    if let problem = problem(files: files(for: operations) + 2 * connections) {
      return "\(problem), or lower --connections"
    }
    return problem(max: operations)
  }

  /// Starts as many threads as so many operations need. Every thread must start: an operation without a thread of its own
  /// would keep that of its producer.
  static func trial(max operations: Int) -> ThreadTrial { ThreadTrial(operations + otherThreads) }

  /// Describes the limit that is too low to ask a running job, and how to raise it; nil if all suffice.
  static func problemOfClient() -> String? {
    // A thread for the connections, and one that asks.
    problem(files: leastFilesOfClient) ?? problem(ThreadTrial(2))
  }

  /// Describes the limit that prevents the start of a server; nil if there is none.
  static func problemOfServer() -> String? {
    // The thread of its event loop, and another one.
    problem(ThreadTrial(2))
  }

  private static func problem(files: Int) -> String? {
    guard let limit = openFiles(), limit.rlim_cur < rlim_t(files) else { return nil }
    return "may open only \(limit.rlim_cur) files at once and needs \(files); raise the limit with ulimit -n"
  }

  private static func problem(_ trial: ThreadTrial) -> String? {
    let (started, wanted) = (trial.started, trial.wanted)
    return started >= wanted ? nil : "gets only \(started) of \(wanted) threads from the system; \(wayOut)"
  }

  /// Says that a thread could not be started, although there were enough a moment before.
  static let noThread = "gets no further thread from the system; \(wayOut)"

  private static let wayOut =
    "raise the limits of processes and of memory with ulimit -u, -v and -d, or those of the container"

  #if canImport(Glibc)
  private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  #else
  private static let resource = RLIMIT_NOFILE
  #endif

  private static func openFiles() -> rlimit? {
    var limit = rlimit()
    return getrlimit(resource, &limit) == 0 ? limit : nil
  }
}
