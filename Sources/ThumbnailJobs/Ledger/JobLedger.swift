import Files
import Foundation
import Ledger

/// What a job remembers of its sources, in the ledger of its first output, for later runs. Sources from the network are not
/// remembered: their servers tell whether they have changed.
///
/// *Concurrency*: every member may be called from any thread.
final class JobLedger: Sendable {
  /// What is known of a source, and still holds.
  enum Memory {
    /// It failed, and would fail again. The version is that of the file.
    case failed(SourceFailure, SourceFile.Version?)
    /// It was under way when so many earlier runs died.
    case suspect(deaths: Int)
  }

  /// After so many deaths of the process a source is taken for their cause, and has failed for good.
  static let mostDeaths = 3

  private let file: Path
  private let ledger: Ledger
  /// The output folder, as the job names it, and its absolute path.
  private let place: Path
  private let output: Path
  private let settings: String
  private let program: String
  private let retriesFailed: Bool
  /// Whether this is a dry run, which remembers nothing.
  private let isReading: Bool
  /// Nil in a dry run, and if its file could not be made.
  let underWay: UnderWay?
  /// Whether an earlier run died. Its last entries may be lost.
  private let hasDeadRun: Bool

  /// Opens the ledger only if an earlier run died. It is made if it is missing, except in a dry run.
  init(_ outputs: [ThumbnailOutput], _ job: JobSettings) {
    let first = outputs[0]
    let part = job.shard?.part
    isReading = first.folder == nil
    file = first.localPath.appending(SourceWalker.workingFolderName).appending(Ledger.name(part: part))
    ledger = Ledger(file, for: isReading ? .reading : .writing, entersAll: true, isDurable: job.durable)
    (place, output) = (first.localPath, first.localPath.absolute ?? first.localPath)
    let text = outputs.map(\.settingsText).joined() + "limit-pixels \(job.limitPixels)"
    settings = String(decoding: Fingerprint(of: text.utf8).digits, as: UTF8.self)
    (program, retriesFailed) = (job.program, job.retryFailed || job.force)
    underWay = first.folder.flatMap { [output] in UnderWay(in: $0.runDescriptor, output: output, part: part) }
    let interrupted = first.folder?.interrupted
    hasDeadRun = interrupted != nil
    // At once, because the process may die again. A source that several processes had under way when the system stopped
    // counts once.
    for (part, sources) in Dictionary(grouping: Set(interrupted ?? []), by: \.part) {
      let ledger =
        part == job.shard?.part ? ledger : Ledger(file.parent.appending(Ledger.name(part: part)), for: .writing)
      for source in sources { suspect(source.source, in: ledger) }
      ledger.write()
    }
  }

  private func suspect(_ source: Path, in ledger: Ledger) {
    var deaths = 1
    if case .suspect(let before) = ledger.unmade(source)?.outcome { deaths += before }
    let version = version(of: output.following(source))
    ledger.record(
      LedgerEntry(
        source, version: version, outcome: .suspect(deaths: deaths), settings: settings, program: program, time: now))
  }

  private var now: Int { Int(Date().timeIntervalSince1970) }

  private func version(of source: Path) -> LedgerEntry.Version? {
    (try? FileStatus.of(source, followingLinks: true).get()).map { LedgerEntry.Version($0) }
  }

  private func key(of source: Source) -> Path { source.path.leading(from: output) }

  /// What is known of a source that was not made. Most ledgers have none, and the key takes time.
  private func unmade(_ source: Source) -> LedgerEntry? {
    ledger.mayHaveUnmade && source.address == nil ? ledger.unmade(key(of: source)) : nil
  }

  /// Whether a source has failed for good, and has not changed since.
  func hasFailed(_ source: Source) -> Bool {
    guard let entry = unmade(source), case .failed = entry.outcome else { return false }
    return entry.version == version(of: source.path) && entry.settings == settings
  }

  /// Whether sources that are up to date may be missing in the ledger.
  private var isIncomplete: Bool { hasDeadRun || !ledger.wasComplete }

  /// What is known of a source whose thumbnails are to be made; nil if nothing is, or if it has changed.
  func memory(of source: Source) -> Memory? {
    guard let entry = unmade(source), entry.version == version(of: source.path),
      entry.settings == settings, entry.program == program
    else { return nil }
    switch entry.outcome {
    case .made: return nil
    case .suspect(let deaths) where deaths >= Self.mostDeaths:
      let reason = "the process died \(deaths) times while it was being made"
      return retriesFailed
        ? .suspect(deaths: deaths) : failed(entry, SourceFailure.Kind.source.rawValue, reason)
    case .suspect(let deaths): return .suspect(deaths: deaths)
    case .failed(let kind, let reason):
      return retriesFailed ? nil : failed(entry, kind, reason)
    }
  }

  private func failed(_ entry: LedgerEntry, _ kind: String, _ reason: String) -> Memory {
    let version = entry.version.map { version in
      let (seconds, nanoseconds) = version.modified.quotientAndRemainder(dividingBy: 1_000_000_000)
      return SourceFile.Version(bytes: version.bytes, modified: timespec(tv_sec: seconds, tv_nsec: nanoseconds))
    }
    return .failed(.earlier(kind: kind, reason: reason, time: entry.time), version)
  }

  /// Remembers a source whose thumbnails are up to date, if it may be missing in the ledger.
  ///
  /// - Parameters:
  ///   - thumbnails: how many there are.
  ///   - first: the place of one of them in the output folder.
  func recordUpToDate(
    _ source: Source, thumbnails: @autoclosure () -> Int, first: @autoclosure () -> Path
  ) {
    guard !isReading, isIncomplete, source.address == nil else { return }
    let key = key(of: source)
    if !ledger.isNew, case .made = ledger.entry(of: key)?.outcome { return }
    record(key, version(of: source.path), .made(thumbnails: thumbnails(), first: first()))
  }

  /// The hash of all bytes that a source had when its thumbnails were made or last compared; nil if it is not known.
  func hash(of source: Source) -> UInt64? {
    let entry = ledger.entry(of: key(of: source))
    guard let entry, case .made = entry.outcome else { return nil }
    return entry.hash
  }

  /// Remembers the hash of a source whose thumbnails are up to date.
  ///
  /// - Parameters:
  ///   - thumbnails: how many there are.
  ///   - first: the place of one of them in the output folder.
  func record(hash: UInt64, of source: Source, thumbnails: Int, first: Path) {
    record(key(of: source), version(of: source.path), .made(thumbnails: thumbnails, first: first), hash)
  }

  /// Remembers the result of a source that an operation has ended.
  ///
  /// - Parameters:
  ///   - file: the version that was read; nil if it was not opened.
  ///   - hash: of all its bytes; nil if it is not known.
  func record(_ report: SourceReport, _ file: SourceFile.Version?, hash: UInt64?) {
    if isReading || report.source.address != nil { return }
    let key = key(of: report.source)
    let version = file.map { LedgerEntry.Version(bytes: $0.bytes, modified: $0.modified.nanoseconds) }
    switch report.result {
    case .made:
      let first = report.thumbnails.first?.path.below(place)
      record(key, version, .made(thumbnails: report.thumbnails.count, first: first), hash)
    case .failed(let failure) where failure.isForGood:
      record(key, version, .failed(kind: failure.kind.rawValue, reason: "\(failure)"))
    // What was tried to the end is no suspect any more.
    case .failed, .notImage, .thumbnail, .unsupported, .gone: if ledger.unmade(key) != nil { ledger.forget(key) }
    case .duplicate, .cancelled: break
    }
  }

  private func record(
    _ source: Path, _ version: LedgerEntry.Version?, _ outcome: LedgerEntry.Outcome, _ hash: UInt64? = nil
  ) {
    var entry = LedgerEntry(
      source, version: version, outcome: outcome, settings: settings, program: program, time: now)
    entry.hash = hash
    ledger.record(entry)
  }

  /// Forgets a source.
  func forget(_ source: Path) { if !isReading { ledger.forget(source.leading(from: output)) } }

  /// Whether a source is remembered.
  func knows(_ source: Path) -> Bool { ledger.entry(of: source.leading(from: output)) != nil }

  /// Writes what is not written yet. Opens the ledger if need be, so that this takes no time at the end.
  func write() {
    if isReading { return }
    try? ledger.open()
    ledger.write()
  }

  /// Writes what is not written yet, at the end of a run.
  ///
  /// - Parameter isWhole: whether the run has seen every source. If not, the ledger is complete only if it was before.
  func finish(isWhole: Bool) {
    if isReading { return }
    if isWhole || ledger.wasComplete { ledger.complete() } else { ledger.write(isLast: true) }
  }

  /// Why the run is not remembered, or only in part; nil if it is. A dry run needs no ledger.
  var problem: LedgerError? { isReading && ledger.problem?.kind == .missing ? nil : ledger.problem }
}

extension LedgerEntry.Version {
  fileprivate init(_ status: stat) {
    self.init(bytes: Int(status.st_size), modified: status.modified.nanoseconds)
  }
}

extension timespec {
  /// Since 1970.
  fileprivate var nanoseconds: Int { Int(tv_sec) * 1_000_000_000 + Int(tv_nsec) }
}
