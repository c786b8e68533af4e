import Foundation

/// A running job of this user and its address.
public struct RunningJob: Sendable, Equatable {
  /// The id of its process.
  public let pid: Int
  public let address: StatusAddress
}

/// The runs of this user on this machine that listen on a socket in the runtime folder.
public enum RunningJobs {
  /// The runs that listen now, ordered by process id. Removes sockets that ended runs have left.
  public static func find(
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> [RunningJob] {
    var jobs: [RunningJob] = []
    for folder in RuntimeFolder.existing(environment) {
      folder.sweep()
      let listening = folder.sockets.filter { !SocketFile.isStale($0.path) }
      jobs += listening.map { RunningJob(pid: $0.pid, address: .unix($0.path)) }
    }
    return jobs.sorted { ($0.pid, $0.address.description) < ($1.pid, $1.address.description) }
  }
}
