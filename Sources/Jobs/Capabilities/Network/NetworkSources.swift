import BoundedQueue
import Fetching
import Files
import Locking
import Marks
import Places
import Sourcing

/// Has the sources of a job that are on the network fetched before their results are made.
///
/// For each of them, a ``FetchOperation`` goes to the queue of the job's ``Network``, and then the operation that
/// depends on it to that of the job. The fetch asks the `Fetcher` for the source, unless it is the one of which there
/// are thumbnails already (`KnownThumbnails`). One thread of the `Fetcher` drives all transfers with libcurl (`CCurl`);
/// the operation's thread waits, and looks at what has arrived in the `SpoolFile`. An ``Arrival`` asks for each output
/// an `ArrivingJPEG` whether the thumbnails need more; if not, the transfer ends. A `SourceFile` of the file goes the
/// way of any other. In S3, the walk lists a bucket (`ObjectLister`), the `S3Service` finds URLs and signs requests,
/// and a `BucketOutput` puts thumbnails there.
///
/// *Concurrency*: from any thread.
final class NetworkSources: JobCapability {
  private let network: Network
  private let results: RemoteResults
  private let isDryRun: Bool
  private let hasSources: Bool
  /// Ends fetches that run too long.
  private let watchdog: Watchdog

  convenience init?(_ parts: JobParts) {
    self.init(
      parts.network, parts.remoteResults, timeout: parts.settings.timeout, hasSources: parts.settings.mayFetch,
      isDryRun: parts.settings.dryRun)
  }

  /// - Parameters:
  ///   - hasSources: whether the job may have sources on the network.
  ///   - isDryRun: whether nothing is made.
  init(_ network: Network, _ results: RemoteResults, timeout: Duration, hasSources: Bool, isDryRun: Bool) {
    (self.network, self.results) = (network, results)
    watchdog = Watchdog(queue: network.queue, timeout: timeout, total: nil, waitingStages: FetchStage.waiting) {}
    (self.hasSources, self.isDryRun) = (hasSources, isDryRun)
  }

  var queues: [BoundedOperationQueue] { hasSources ? [network.queue] : [] }

  func recall(_ candidate: inout Candidate, in engine: Engine) {
    guard candidate.verdict == nil, let address = candidate.source.address else { return }
    let (source, place) = (candidate.source, candidate.place)
    var known: KnownThumbnails?
    var lookUp: FetchOperation.LookUp?
    if let ask = results.lookUp {
      lookUp = { isCancelled throws(OutputError) in try ask(source, place, isCancelled) }
    } else if !candidate.isForced {
      switch results.state(source, address, place) {
      case .isTaken(let place):
        candidate.verdict = .refuse(.output(OutputError(.taken, place)), nil)
        return
      case .missing: break
      case .made(let found): known = found
      }
    }
    if isUpToDate(source, known) {
      candidate.verdict = .upToDate
    } else if isDryRun {
      candidate.verdict = plan(source, lookUp, engine)
    } else {
      watchdog.begin()
      let fetch = FetchOperation(source, address, known: known, lookUp: lookUp, options: results.options, network)
      candidate.verdict = .start(SourceTask(source: source, place: place, work: .make, supply: fetch))
    }
  }

  /// Whether the listing of a bucket tells that the results of a source are up to date.
  private func isUpToDate(_ source: Source, _ known: KnownThumbnails?) -> Bool {
    guard let known, let listed = source.listed else { return false }
    return SourceContents(listed) == known.contents
  }

  /// A dry run asks no server of a source, but a bucket of results.
  private func plan(_ source: Source, _ lookUp: FetchOperation.LookUp?, _ engine: Engine) -> Candidate.Verdict {
    do throws(OutputError) {
      return isUpToDate(source, try lookUp? { engine.isStopping }) ? .upToDate : .planned
    } catch {
      return engine.isStopping ? .stop : .refuse(.output(error), nil)
    }
  }

  func limitsChanged(_ limits: QueueLimits) {
    network.changeMostSources(to: limits.backlog + limits.maxConcurrentOperations)
  }

  /// After the queue of the job, because an operation tells why its source was not fetched unless it is cancelled itself.
  func stopping(_ cause: StopCause) { network.queue.stop(reason: cause.reason, sparingRunning: false) }

  func finish(_ engine: Engine, _ walk: SourceWalk?) {
    network.shutDown()
    watchdog.end()
  }

  func tell(_ status: inout JobStatus, waitingLimit: Int) {
    status.listing = network.listing
    guard hasSources else { return }
    (status.fetches, status.fetched) = (network.queue.snapshot(waitingLimit: waitingLimit), network.counters)
  }

  func tell(_ report: inout JobReport) {
    if network.queue.counters.submitted > 0 { report.fetches = network.counters }
  }
}
