import BoundedQueue
import Fetching
import Files
import JobSettings
import Locking
import Places
import Sourcing

/// Everything that a job needs to fetch sources: the queue of the fetches, the connections, and the place on disk.
///
/// A fetch is submitted before the operation that makes its thumbnails. So a full backlog of thumbnails stops the walk, and
/// with it the fetching. The backlog of the fetches never stops it sooner: fetches that wait until their host wants them would
/// hold up other hosts.
///
/// *Concurrency*: every member may be called from any thread.
final class Network: Sendable, ObjectLister, ObjectStore {
  let settings: NetworkSettings
  /// Runs the fetches, as many at once as there may be connections.
  let queue: BoundedOperationQueue
  /// The files of sources that are fetched and not made yet.
  let spool: Spool
  private struct Listing {
    let prefix: StoreLocation
    let page: Int
    var isUnderWay: Bool
  }

  /// The last page that was asked for.
  private let listed = Locked<Listing?>(nil)
  private let counts = Locked(FetchCounters())
  /// Fetch the sources, and ask for and keep thumbnails in buckets. The two have connections of their own: a source that waits
  /// for disk space keeps its connection, and the space may become free only when a thumbnail is kept.
  private let sources, thumbnails: Connections

  /// - Parameters:
  ///   - folder: for the files, which have no names there.
  ///   - program: the version of the program, which servers are told.
  ///   - sources: how many sources may run and wait at once.
  ///   - fetches: whether there may be sources from the network.
  ///   - keeps: whether thumbnails go to a bucket.
  init(_ settings: NetworkSettings, folder: Path, program: String, sources most: Int, fetches: Bool, keeps: Bool) {
    self.settings = settings
    queue = BoundedOperationQueue(
      name: "fetches", maxConcurrentOperations: settings.connections, backlog: Self.backlog(settings, sources: most))
    spool = Spool(folder: folder, bytes: settings.spoolBytes)
    var limits = FetchLimits(settings)
    var kept = limits
    kept.waitsForHosts = true
    if fetches && keeps {
      kept.perHost = max(1, settings.perHost / 2)
      kept.connections = kept.perHost
      limits.perHost = max(1, settings.perHost - kept.perHost)
      limits.connections -= kept.connections
    }
    sources = Connections(limits, userAgent: "thumbjob/\(program)")
    thumbnails = Connections(kept, userAgent: "thumbjob/\(program)")
  }

  /// Changes how many sources may run and wait at once.
  func changeMostSources(to count: Int) {
    queue.changeLimits { $0.backlog = Self.backlog(settings, sources: count) }
  }

  /// One more, because a fetch is submitted before the other operation of its source.
  private static func backlog(_ settings: NetworkSettings, sources: Int) -> Int {
    max(4 * settings.connections, sources + 1)
  }

  /// Fetches the sources.
  ///
  /// - Throws: `FetchError` if the library for connections is missing.
  func fetcher() throws(FetchError) -> Fetcher { try sources.fetcher() }

  func list(
    _ prefix: StoreLocation, page: String?, most: Int, isCancelled: () -> Bool
  ) throws(FetchError) -> ObjectPage {
    listed.withLock { $0 = Listing(prefix: prefix, page: page == nil ? 1 : ($0?.page ?? 0) + 1, isUnderWay: true) }
    defer { listed.withLock { $0?.isUnderWay = false } }
    return try fetcher().list(prefix, page: page, most: most, isCancelled: isCancelled)
  }

  /// The page of a bucket that the walk waits for, such as `s3://photos/2026/, page 3`; nil if it waits for none.
  var listing: String? {
    listed.withLock { $0.flatMap { $0.isUnderWay ? "\($0.prefix), page \($0.page)" : nil } }
  }

  func metadata(of object: StoreLocation, isCancelled: () -> Bool) throws(FetchError) -> [String: String]? {
    try thumbnails.fetcher().metadata(of: object, isCancelled: isCancelled)
  }

  func put(
    _ thumbnail: [UInt8], as object: StoreLocation, type: String, metadata: [String: String], replaces: Bool,
    isCancelled: () -> Bool
  ) throws(FetchError) -> Bool {
    try thumbnails.fetcher().put(
      thumbnail, as: object, type: type, metadata: metadata, replaces: replaces, isCancelled: isCancelled)
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
    for connections in [sources, thumbnails] { connections.shutDown() }
  }
}
