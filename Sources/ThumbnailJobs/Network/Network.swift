import BoundedQueue
import Fetching
import Files
import Locking

/// Everything that a job needs to fetch sources: the queue of the fetches, the connections, and the place on disk.
///
/// A fetch is submitted before the operation that makes its thumbnails. So a full backlog of thumbnails stops the walk, and
/// with it the fetching.
///
/// *Concurrency*: every member may be called from any thread.
final class Network: Sendable, ObjectLister, ObjectStore {
  let settings: NetworkSettings
  /// Runs the fetches, as many at once as there may be connections.
  let queue: BoundedOperationQueue
  /// The files of sources that are fetched and not made yet.
  let spool: Spool
  private let userAgent: String
  private let keepsThumbnails: Bool
  /// Guarded by its lock.
  private let counts = Locked(FetchCounters())
  /// Nil until the first fetch: most jobs have only files, and need no connections. Guarded by its lock, which is held while
  /// it is made.
  private let started = Locked<Fetcher?>(nil)

  /// - Parameters:
  ///   - folder: for the files, which have no names there.
  ///   - program: the version of the program, which servers are told.
  ///   - keepsThumbnails: whether thumbnails go to a bucket.
  init(_ settings: NetworkSettings, folder: Path, program: String, keepsThumbnails: Bool = false) {
    (self.settings, self.keepsThumbnails) = (settings, keepsThumbnails)
    queue = BoundedOperationQueue(name: "fetches", max: settings.connections)
    spool = Spool(folder: folder, bytes: settings.spoolBytes)
    userAgent = "thumbjob/\(program)"
  }

  /// Makes the connections.
  ///
  /// - Throws: `FetchError` if the library for them is missing.
  func fetcher() throws(FetchError) -> Fetcher {
    try started.withLock { started throws(FetchError) in
      if let started { return started }
      var limits = FetchLimits()
      limits.keepsObjects = keepsThumbnails
      limits.connections = settings.connections
      limits.perHost = max(keepsThumbnails ? 2 : 1, settings.perHost)
      (limits.largest, limits.allowsPrivate) = (settings.largest, settings.allowsPrivate)
      let fetcher = try Fetcher(limits, userAgent: userAgent)
      started = fetcher
      return fetcher
    }
  }

  func list(
    _ prefix: S3Location, page: String?, most: Int, isCancelled: () -> Bool
  ) throws(FetchError) -> ObjectPage {
    try fetcher().list(prefix, page: page, most: most, isCancelled: isCancelled)
  }

  func metadata(of object: S3Location, isCancelled: () -> Bool) throws(FetchError) -> [String: String]? {
    try fetcher().metadata(of: object, isCancelled: isCancelled)
  }

  func put(
    _ jpeg: [UInt8], as object: S3Location, metadata: [String: String], replaces: Bool, isCancelled: () -> Bool
  ) throws(FetchError) -> Bool {
    try fetcher().put(
      jpeg, as: object, type: "image/jpeg", metadata: metadata, replaces: replaces, isCancelled: isCancelled)
  }

  /// What was fetched so far.
  var counters: FetchCounters {
    var counters = counts.withLock { $0 }
    counters.peak = queue.counters.peakRunning
    return counters
  }

  func count(_ change: (inout FetchCounters) -> Void) { counts.withLock { change(&$0) } }

  /// Closes the connections. Call it when no operation depends on a fetch any more.
  func shutDown() {
    queue.close()
    started.withLock { $0 }?.shutDown()
  }
}
