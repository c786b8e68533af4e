import BoundedQueue
import Fetching
import Files
import Foundation
import JobSettings
import Locking
import Marks
import PictureMaking
import Places
import Sourcing
import Synchronization
import Thumbnails

/// Fetches a source from the network into a file without a name, as much of it as its thumbnails need.
///
/// A ``ThumbnailOperation`` depends on it. It holds no memory but the buffers of the transfer and,
/// while it looks for what is missing, the header of the picture.
final class FetchOperation: SupplyOperation, @unchecked Sendable {  // `arrival` has a lock
  private let source: Source
  private let address: RemoteAddress
  private let extent: FetchExtent
  /// What the thumbnails tell that are there; nil if they are to be made anyway.
  private let known: Locked<KnownThumbnails?>
  /// Asks what thumbnails in buckets tell; nil if they are in folders.
  private let lookUp: LookUp?
  private let options: [ThumbnailOptions]
  private let network: Network
  /// What has arrived. Guarded by its lock, although only the operation's thread uses it.
  private let arrival = Locked<Arrival?>(nil)
  /// Why an earlier operation has not fetched the source.
  private let earlier: Postponement?
  /// Why this one has not; nil if it has, or before it ends.
  private let postponement = Locked<Postponement?>(nil)
  private let looked = Atomic(false)
  /// Whether the buckets have told what they have. What is there later, this run may have made.
  private var hasLookedUp: Bool { looked.load(ordering: .relaxed) }

  typealias LookUp = @Sendable (_ isCancelled: () -> Bool) throws(OutputError) -> KnownThumbnails?

  /// - Parameters:
  ///   - known: what the thumbnails tell that are there; nil if they are to be made anyway.
  ///   - lookUp: asks what thumbnails in buckets tell, before the source is fetched; nil if they are in folders.
  ///   - options: of all outputs.
  ///   - extent: nil for that of the settings.
  ///   - earlier: why an earlier operation has not fetched the source. This one waits until it may.
  init(
    _ source: Source, _ address: RemoteAddress, known: KnownThumbnails?, lookUp: LookUp? = nil,
    options: [ThumbnailOptions], extent: FetchExtent? = nil, after earlier: Postponement? = nil, _ network: Network
  ) {
    (self.source, self.address, self.lookUp, self.earlier) = (source, address, lookUp, earlier)
    self.known = Locked(known)
    (self.options, self.network) = (options, network)
    self.extent = extent ?? network.settings.extent
    let (kind, path) = (SourceWork.fetch.rawValue, source.path.printable)
    super.init(on: network.queue, title: "\(kind) \(path)", kind: kind, subject: path)
    if let alarm = earlier.flatMap({ Alarm.operation(at: $0) }) { addDependency(alarm) }
  }

  /// A new operation that fetches the source.
  ///
  /// - Parameter whole: whether it fetches all of it.
  override func renewed(whole: Bool) -> SupplyOperation {
    FetchOperation(
      source, address, known: whole ? nil : thumbnails, lookUp: whole || hasLookedUp ? nil : lookUp, options: options,
      extent: whole ? .whole : extent, after: postponement.withLock { $0 } ?? earlier, network)
  }

  override func makeResult() throws -> FetchedSource? {
    do {
      let fetched = try fetch()
      network.count { counters in
        if case .file = fetched { counters.fetched += 1 } else { counters.unchanged += 1 }
      }
      return fetched
    } catch {
      // What waits for the operation that tells of the failure must hold no disk space.
      arrival.withLock { $0 = nil }
      if case FetchError.postponed(let postponement) = error {
        self.postponement.withLock { $0 = postponement }
        cancel(reason: .postponed)
      }
      try checkCancelled()
      if error is FetchError { network.count { $0.failed += 1 } }
      throw (error as? FetchError).map { SourceFailure.network($0) } ?? error
    }
  }

  private var thumbnails: KnownThumbnails? { known.withLock { $0 } }

  private func fetch() throws -> FetchedSource {
    if let lookUp {
      report(stage: "asking for the thumbnails")
      let found = try lookUp { self.isCancelled }
      known.withLock { $0 = found }
      looked.store(true, ordering: .relaxed)
    }
    if let known = thumbnails {
      if let listed = source.listed, SourceContents(listed) == known.contents { return .unchanged }
      let reply = try fetch(unless: Validators(entityTag: nil, lastModified: Int(known.modified.tv_sec)))
      if reply.outcome != .unchanged { return try result(of: reply) }
      // A server may compare only times, and an older file may have replaced a newer one.
      if SourceContents(reply.validators).map({ $0 == known.contents }) ?? true { return .unchanged }
    }
    return try result(of: fetch(unless: nil))
  }

  private func fetch(unless validators: Validators?) throws(FetchError) -> FetchReply {
    let isNamedLikeParts = source.relativePath.isNamedLikeParts
    let arrival = Arrival(
      in: try network.spool.file(), options, extent: extent, isNamedLikeParts: isNamedLikeParts)
    self.arrival.withLock { $0 = arrival }
    var request = FetchRequest(address)
    request.unless = validators
    (request.tries, request.leavesLongWaits) = (earlier?.tries ?? 0, true)
    if extent != .whole, isNamedLikeParts { request.beginning = NeededBytes.beginning }
    let reply = try network.fetcher().fetch(request, into: arrival.file, monitor: self)
    network.count { $0.bytes += reply.bytesReceived }
    return reply
  }

  private func result(of reply: FetchReply) throws -> FetchedSource {
    guard let arrival = arrival.withLock({ $0.take() }) else { preconditionFailure("a reply without a file") }
    let contents = SourceContents(reply.validators)
    let known = thumbnails
    if let known, contents == known.contents { return .unchanged }
    var (size, parts): (Int, RangeSet<Int>?)
    if case .parts(let held, let total) = reply.outcome {
      (size, parts) = (total, held)
    } else {
      (size, parts) = (try arrival.finish(), nil)
    }
    let fetched = FetchedFile(
      host: address.host, file: arrival.file, size: size, modified: reply.validators.modified, contents: contents,
      parts: parts,
      isCut: arrival.isCut, lacksLastBit: arrival.lacksLastBit)
    // The contents themselves, where the server tells nothing of them.
    if let known, contents == nil, try SourceFile(fetched).contents() == known.contents { return .unchanged }
    return .file(fetched)
  }
}

extension FetchOperation: FetchMonitor {
  func received(_ bytes: Int, of total: Int?) -> FetchVerdict {
    if let total, total > 0 { reportProgress(Double(bytes) / Double(total)) }
    return arrival.withLock { $0?.verdict(having: bytes, of: total) ?? .goOn }
  }

  func missing(having held: RangeSet<Int>, of total: Int) -> RangeSet<Int>? {
    arrival.withLock { $0?.missing(having: held, of: total) }
  }

  func restarted() { arrival.withLock { $0?.restart() } }

  func needs(_ validators: Validators) -> Bool {
    thumbnails.map { SourceContents(validators) != $0.contents } ?? true
  }

  func entered(_ stage: FetchStage) { report(stage: stage.rawValue) }
}

extension Validators {
  /// The time of the last change; now if the server does not tell it.
  fileprivate var modified: timespec {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return lastModified.map { timespec(tv_sec: $0, tv_nsec: 0) } ?? time
  }
}
