import Fetching
import Files
import Foundation
import JobSettings
import Ledger
import Marks
import Places
import Sourcing

/// Remembers the checksums of a list for later runs, so that these read only what has changed: by size, times and file
/// number, and for sources from the network by what their servers tell.
///
/// *Concurrency*: from any thread.
final class ChecksumLedger: ResultMemory {
  private let ledger: Ledger
  /// The absolute folder of the list.
  private let folder: Path
  private let program: String
  /// Whether nothing is remembered, as in a dry run.
  private let isReading: Bool
  private let onProblem: @Sendable (LedgerError) -> Void

  /// Names what an entry holds. Another kind of digest would have another name.
  private static let settings = "sha256"

  init?(_ parts: JobParts) {
    guard let place = (parts.kind as? Checksums)?.place else { return nil }
    (isReading, folder, program) = (parts.isRead, place.folder, parts.settings.program)
    onProblem = { [onEvent = parts.onEvent] in onEvent(.ledger($0)) }
    ledger = Ledger(place.ledger, for: isReading ? .reading : .writing, isDurable: parts.settings.durable)
  }

  // MARK: What is remembered

  /// The last checksum of a source; nil if it is not known. Whether it is that of the source as it is now, other calls tell.
  func digest(of source: Source) -> SHA256Digest? { entry(of: source)?.digest.flatMap { SHA256Digest(bytes: $0) } }

  /// What the checksum of a source from the network tells of it.
  func remoteState(of source: Source) -> SettingsStamp.RemoteState {
    guard let entry = entry(of: source), entry.digest != nil, let version = entry.version, let state = version.state,
      let contents = SourceContents(digits: Fingerprint(hash: UInt64(bitPattern: Int64(state))).digits)
    else { return .missing }
    return .made(
      KnownThumbnails(modified: timespec(tv_sec: version.modified, tv_nsec: 0), contents: contents))
  }

  private func entry(of source: Source) -> LedgerEntry? {
    guard let entry = ledger.entry(of: key(of: source)), case .made = entry.outcome, entry.settings == Self.settings,
      entry.key == source.address.map({ SourceKey(of: $0).number })
    else { return nil }
    return entry
  }

  /// The path of a source in the ledger. That of an address hides what is secret of it, so entries of addresses have the
  /// number of their ``SourceKey`` as well.
  private func key(of source: Source) -> Path { source.isLocal ? source.path.leading(from: folder) : source.path }

  // MARK: Moments

  func recall(_ candidate: inout Candidate, in engine: Engine) {
    guard candidate.verdict == nil, candidate.source.isLocal, let status = candidate.status,
      let entry = entry(of: candidate.source), entry.digest != nil, Self.version(status).isSame(as: entry.version)
    else { return }
    candidate.foundUpToDate(isRemembered: true)
  }

  func ended(_ end: SourceEnd) {
    guard !isReading, let operation = end.operation as? ChecksumOperation, let digest = operation.digest,
      let version = version(of: end, operation)
    else { return }
    let now = Int(Date().timeIntervalSince1970)
    var entry = LedgerEntry(
      key(of: end.source), version: version, outcome: .made(thumbnails: 0, first: nil), settings: Self.settings,
      program: program, time: now)
    (entry.digest, entry.key) = (digest.bytes, end.source.address.map { SourceKey(of: $0).number })
    ledger.record(entry)
  }

  func tick() {
    if isReading { return }
    // Also opens it, so that this takes no time at the end.
    try? ledger.open()
    ledger.write()
  }

  func finish(_ engine: Engine, _ walk: SourceWalk?) {
    if !isReading { ledger.write(isLast: true) }
    guard let problem = ledger.problem, !(isReading && problem.kind == .missing) else { return }
    onProblem(problem)
  }

  // MARK: Versions

  private static func version(_ status: stat) -> LedgerEntry.Version {
    LedgerEntry.Version(
      bytes: Int(status.st_size), modified: status.modified.wrappedNanoseconds, state: FileState(status).value)
  }

  /// The version that an operation has read; nil if a later run could not recognise it.
  private func version(of end: SourceEnd, _ operation: ChecksumOperation) -> LedgerEntry.Version? {
    guard let file = end.findings.file else { return nil }
    if end.source.isLocal {
      return LedgerEntry.Version(
        bytes: file.bytes, modified: file.modified.wrappedNanoseconds, state: file.state?.value)
    }
    // What the server tells of the contents takes the place of the state, and the time is in whole seconds, as servers
    // tell it.
    guard let contents = operation.contents, let print = Fingerprint(digits: contents.digits) else { return nil }
    return LedgerEntry.Version(
      bytes: file.bytes, modified: Int(file.modified.tv_sec), state: Int(truncatingIfNeeded: print.hash))
  }
}
