import Foundation

/// The limits on clients, beyond which the endpoint refuses a request or closes a connection.
struct EndpointLimits: Sendable {
  private static let mostConnections = 128
  /// The open files that a run needs at least, without connections.
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

  /// An eighth of the files beyond ``filesOfRun``, because there may be two endpoints, and the run needs most of the rest.
  static func share(ofFiles files: Int) -> Int { min(mostConnections, max(4, (files - filesOfRun) / 8)) }

  /// The most connections at once; a further one replaces the one that has waited longest for a request. Fewer if the
  /// process may open few files, so that the work keeps enough.
  var connections = EndpointLimits.share(ofFiles: EndpointLimits.openFiles)
  /// The most clients that listen for events at once.
  var listeners = 16
  /// The most pending events of one listener; beyond it events are lost.
  var eventsWaiting = 512
  /// The most bytes of all headers of a request.
  var headerBytes = 16 * 1024
  var headerCount = 64
  /// The most bytes of a request body.
  var bodyBytes = 16 * 1024
  /// Seconds for a request to arrive, from the opening of its connection or the end of the previous answer.
  var requestSeconds = 10
  /// Seconds that a client may leave an answer unread.
  var stalledSeconds = 20
  /// The most running, and the most waiting, operations that `GET /status` lists.
  var listed = 100
}
