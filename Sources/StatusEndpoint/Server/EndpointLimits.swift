import Foundation

/// How much the endpoint takes from clients before it refuses or leaves.
struct EndpointLimits: Sendable {
  private static let mostConnections = 128
  /// What a run needs at the least, before there are any connections.
  private static let filesOfRun = 64

  /// Files that the process may have open.
  private static var openFiles: Int {
    var limit = rlimit()
    #if canImport(Glibc)
      let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
      let resource = RLIMIT_NOFILE
    #endif
    guard getrlimit(resource, &limit) == 0 else { return filesOfRun }
    return Int(min(limit.rlim_cur, 1 << 20))
  }

  /// An eighth of what the run leaves: there may be two endpoints, and most are for the run's own.
  static func share(ofFiles files: Int) -> Int { min(mostConnections, max(4, (files - filesOfRun) / 8)) }

  /// Connections at once. One more takes the place of the one that has been asking for longest without an end. Fewer where
  /// the process may open few files, so that those who ask take none from the work.
  var connections = EndpointLimits.share(ofFiles: EndpointLimits.openFiles)
  /// Clients that listen for events at once.
  var listeners = 16
  /// Events that wait for one listener before it loses some.
  var eventsWaiting = 512
  /// Bytes of all headers of a request together.
  var headerBytes = 16 * 1024
  var headerCount = 64
  /// Bytes of the body of a request.
  var bodyBytes = 16 * 1024
  /// Seconds in which a request must have arrived, from the opening of its connection or the end of the answer before.
  var requestSeconds = 10
  /// Seconds for which a client may leave unread what it is sent.
  var stalledSeconds = 20
  /// Operations that `GET /status` lists of those running, and of those waiting.
  var listed = 100
}
