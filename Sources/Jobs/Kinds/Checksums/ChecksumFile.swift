import BoundedQueue
import Files
import Locking
import PictureMaking
import Places
import Sourcing

/// Collects the checksums of a job while it runs, and writes their list once all are there.
///
/// *Concurrency*: from any thread. The lines are on the disk, so a million sources take no more memory than a thousand.
final class ChecksumFile: JobCapability {
  private let place: ChecksumPlace
  /// Knows the checksums of sources that are up to date.
  private let ledger: ChecksumLedger
  private let lines: OrderedSpool
  /// Whether the list must outlive a crash of the system once it is in place.
  private let isDurable: Bool
  /// Receives what became of the list.
  private let onJoin: @Sendable (JoinReport) -> Void
  private let made = Locked<JoinReport?>(nil)

  init?(_ parts: JobParts) throws(OutputError) {
    guard let place = (parts.kind as? Checksums)?.place, let ledger = parts.capabilities.first(of: ChecksumLedger.self),
      !parts.isRead
    else { return nil }
    (self.place, self.ledger, isDurable) = (place, ledger, parts.settings.durable)
    onJoin = { [onEvent = parts.onEvent] in onEvent(.join($0)) }
    do throws(Errno) { lines = try OrderedSpool { () throws(Errno) in try place.createUnnamedFile() } } catch {
      throw OutputError(writing: place.working, error)
    }
  }

  /// Another process has changed the ledger, or it has failed.
  private static let lost = SourceFailure.other("its checksum is not in the ledger any more; the next run computes it")

  // MARK: Moments

  func admit(_ candidate: inout Candidate, in engine: Engine) {
    guard case .upToDate = candidate.verdict else { return }
    if let digest = ledger.digest(of: candidate.source) {
      store(digest, of: candidate.source)
    } else {
      candidate.verdict = .refuse(Self.lost, nil)
    }
  }

  func examine(_ operation: SourceOperation, _ ending: inout SourceTask.Ending, in engine: Engine) {
    guard case .unchanged = ending else { return }
    if let digest = ledger.digest(of: operation.source) {
      store(digest, of: operation.source)
    } else {
      ending = .failed(Self.lost)
    }
  }

  func ended(_ end: SourceEnd) {
    if case .made = end.result, let line = end.findings.line { lines.store(line.bytes, at: end.source.number) }
  }

  private func store(_ digest: SHA256Digest, of source: Source) {
    lines.store(ChecksumLine(digest, source.path).bytes, at: source.number)
  }

  /// Writes the list. If the job was stopped, or something could not be read that may have sources, the list of an earlier run
  /// stays.
  func complete(_ engine: Engine) {
    let report = make(engine)
    made.withLock { $0 = report }
    onJoin(report)
  }

  func tell(_ report: inout JobReport) { report.joins = made.withLock { $0 }.map { [$0] } ?? [] }

  private func make(_ engine: Engine) -> JoinReport {
    if engine.state.withLock({ $0.tally.missingArguments + $0.tally.unreadable > 0 }) {
      return JoinReport(kind: .checksums, path: place.file, result: .withheld, count: 0)
    }
    var report = JoinReport(kind: .checksums, path: place.file, result: .notMade(engine.stopReason), count: 0)
    while !engine.isStopping {
      let operation = ChecksumFileOperation(place.file, lines, isDurable: isDurable)
      guard engine.submit(operation) else { break }
      engine.queue.drainBlocking()
      report = operation.report
      // Memory pressure cancels this operation too. It begins again.
      if operation.outcome?.cancelReason != .pressure { break }
    }
    return report
  }
}

/// Writes a list of checksums, in the order of the walk.
private final class ChecksumFileOperation: JoinOperation, @unchecked Sendable {  // constant
  private let lines: OrderedSpool

  init(_ path: Path, _ lines: OrderedSpool, isDurable: Bool) {
    self.lines = lines
    super.init(.checksums, path, isDurable: isDurable)
  }

  override func makeJoin() throws -> (count: Int, isChanged: Bool) {
    let file = try JoinFile(path, kind: .checksums, isDurable: isDurable)
    var count = 0
    do {
      try lines.visit { line in
        if count % 256 == 0 { try checkCancelled() }
        try file.append(line)
        count += 1
      }
    } catch let error as Errno {
      throw OutputError(writing: path, error)
    }
    return (count, try file.publish())
  }
}
