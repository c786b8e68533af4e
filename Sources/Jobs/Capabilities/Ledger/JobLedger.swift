import Files
import Foundation
import JobSettings
import Ledger
import Locking
import Marks
import PictureMaking
import Places
import Sourcing

/// What a job remembers of its sources, in the ledger of its first output, for later runs. Sources from the network are not
/// remembered: their servers tell whether they have changed.
///
/// Before the engine submits a source that is not up to date, the ledger tells whether it has failed for good, or was
/// under way when an earlier run died. The latter are known from a file in the folder of the dead run (`UnderWay`);
/// they are tried last, one at a time. A thread writes many entries at once (`LedgerTable`). After the run, ``Pruning``
/// passes each source that is gone (`VanishedSources`) to the `Removal`, unless a ``PruneRefusal`` of its folder
/// forbids it. `LedgerReport` reads the ledger.
///
/// *Concurrency*: every member may be called from any thread.
final class JobLedger: Sendable {
  /// How a source failed in an earlier run, which still holds.
  enum EarlierFailure {
    /// It failed, and would fail again. The version is that of the file.
    case failed(SourceFailure, SourceFile.Version?)
    /// It was under way when so many earlier runs died.
    case suspect(deaths: Int)
  }

  private let file: Path
  let ledger: Ledger
  /// The output folder, as the job names it, and its absolute path.
  private let place: Path
  let output: Path
  let settings: String
  let program: String
  let retriesFailed: Bool
  private let hasOneOutput: Bool
  /// Whether this is a dry run, which remembers nothing.
  let isReading: Bool
  let onProblem: @Sendable (LedgerError) -> Void
  /// Nil in a dry run.
  private let run: RunFolder?
  /// The part of the sources that the run makes, as text; nil for all.
  private let part: String?
  /// The sources under way in dead processes that were noted.
  private let noted = Locked<Set<UnderWay.Interrupted>>([])
  /// Nil in a dry run, and if its file could not be made.
  let underWay: UnderWay?
  /// The ledgers of other parts that have sources that were not made; nil before the first source that is up to date.
  private let others = Locked<[(file: Path, ledger: Ledger)]?>(nil)
  /// The folder of the last source whose key was asked for, and the path to it. The sources of a folder come in a row.
  private let lastFolder = Locked<(folder: Path, key: Path)?>(nil)

  /// Opens the ledger only if an earlier run died. It is made if it is missing, except in a dry run.
  ///
  /// - Parameter onProblem: receives, at the end of a job, why it was not remembered.
  init(
    _ outputs: [ThumbnailOutput], _ job: JobSettings, onProblem: @escaping @Sendable (LedgerError) -> Void
  ) {
    self.onProblem = onProblem
    let first = outputs[0]
    let part = job.shard?.part
    isReading = first.folder == nil
    file = first.localPath.appending(SourceWalker.workingFolderName).appending(Ledger.name(part: part))
    ledger = Ledger(file, for: isReading ? .reading : .writing, isDurable: job.durable)
    (place, output) = (first.localPath, first.localPath.absolute ?? first.localPath)
    let text = outputs.map(\.settingsText).joined() + "limit-pixels \(job.limitPixels)"
    settings = String(decoding: Fingerprint(of: text.utf8).digits, as: UTF8.self)
    (program, retriesFailed) = (job.program, job.retryFailed || job.force)
    hasOneOutput = outputs.count == 1 && outputs[0].options.formats.count == 1
    underWay = first.folder.flatMap { [output] in $0.run.makeUnderWay(output: output, part: part) }
    (run, self.part) = (first.folder?.run, part)
    noteInterrupted()
  }

  /// Looks again what other processes have entered and left, after the job has waited for them.
  func lookAgain() {
    ledger.lookAgain()
    noteInterrupted()
  }

  /// Notes the sources that were under way when other processes died. At once, because this process may die too. A source
  /// that several processes had under way when the system stopped counts once.
  private func noteInterrupted() {
    let interrupted = noted.withLock { noted in
      let new = Set(run?.interrupted ?? []).subtracting(noted)
      noted.formUnion(new)
      return new
    }
    for (part, sources) in Dictionary(grouping: interrupted, by: \.part) {
      let ledger =
        part == self.part ? ledger : Ledger(file.parent.appending(Ledger.name(part: part)), for: .writing)
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

  func key(of source: Source) -> Path {
    let folder = source.path.parent
    let known = lastFolder.withLock { last in last.flatMap { $0.folder == folder ? $0.key : nil } }
    if let known { return known.appending(source.path.lastName) }
    let key = source.path.leading(from: output)
    // `..` at the end of a folder would not lead to the same file.
    if folder.normalized == folder, key.lastName == source.path.lastName {
      lastFolder.withLock { $0 = (folder, key.parent) }
    }
    return key
  }

  /// What is remembered of a source; nil if nothing is.
  func entry(of source: Source) -> LedgerEntry? { source.address == nil ? ledger.entry(of: key(of: source)) : nil }

  /// Whether the thumbnails of a source were made with the present settings, and neither it nor they have changed since.
  ///
  /// - Parameters:
  ///   - status: of the source.
  ///   - thumbnails: the states of all its thumbnails together.
  func isMade(_ entry: LedgerEntry, _ status: stat, _ thumbnails: FileState) -> Bool {
    guard case .made = entry.outcome, entry.settings == settings, entry.thumbnails == thumbnails.value else {
      return false
    }
    return LedgerEntry.Version(status).isSame(as: entry.version)
  }

  /// Whether a source has failed for good, and has not changed since.
  func hasFailed(_ entry: LedgerEntry, _ status: stat) -> Bool {
    guard case .failed = entry.outcome else { return false }
    return LedgerEntry.Version(status).isSame(as: entry.version) && entry.settings == settings
  }

  /// The absolute paths of the sources that this key stands for in marks.
  func sources(withKey key: SourceKey) -> [Path] { ledger.sources(withKey: key.number).map { output.following($0) } }

  /// Forgets the sources that this key stands for in marks.
  func forget(key: SourceKey) { for source in ledger.sources(withKey: key.number) { ledger.forget(source) } }

  /// How a source failed whose thumbnails are to be made; nil if it has not, or has changed since.
  ///
  /// - Parameter entry: what is remembered of it.
  func earlierFailure(of source: Source, _ entry: LedgerEntry?) -> EarlierFailure? {
    guard let entry, entry.settings == settings, entry.program == program else { return nil }
    let status = try? FileStatus.of(source.path, followingLinks: true).get()
    let now = status.map { LedgerEntry.Version($0) }
    if case .suspect = entry.outcome {
      // A file that is only moved may be the cause still.
      guard now?.bytes == entry.version?.bytes, now?.modified == entry.version?.modified else { return nil }
    } else {
      guard let now, now.isSame(as: entry.version) else { return nil }
    }
    switch retriesFailed ? entry.outcome : entry.outcome.verdict {
    case .made: return nil
    case .suspect(let deaths): return .suspect(deaths: deaths)
    case .failed(let kind, let reason):
      return retriesFailed ? nil : failed(entry, status, kind, reason)
    }
  }

  /// - Parameter status: of the source, which has not changed since. Its time cannot be had from the entry, see
  ///   ``Ledger/LedgerEntry/Version/modified``.
  private func failed(_ entry: LedgerEntry, _ status: stat?, _ kind: String, _ reason: String) -> EarlierFailure {
    let version = status.map { SourceFile.Version(bytes: Int($0.st_size), modified: $0.modified, state: nil) }
    return .failed(.earlier(kind: kind, reason: reason, first: entry.since, last: entry.time), version)
  }

  /// Remembers a source whose thumbnails are up to date, as their marks tell.
  ///
  /// - Parameters:
  ///   - status: of the source.
  ///   - entry: what is remembered of it.
  ///   - count: how many thumbnails there are.
  ///   - first: the place of one of them in the output folder.
  ///   - states: of all thumbnails together.
  func recordUpToDate(
    _ source: Source, _ status: stat, _ entry: LedgerEntry?, thumbnails count: Int, first: Path, _ states: FileState
  ) {
    if isReading || source.address != nil { return }
    let version = LedgerEntry.Version(status)
    var (hash, looks, digest): (UInt64?, UInt64?, [UInt8]?)
    if let entry, case .made = entry.outcome {
      // They belong together, whatever has become of source and thumbnails.
      (hash, looks) = (entry.hash, entry.looks)
      // Nobody compares it with the contents, so it holds only for the very file.
      if version.isSame(as: entry.version) { digest = entry.digest }
    }
    record(
      key(of: source), version, .made(thumbnails: count, first: first), hash, digest, looks: looks, thumbnails: states)
  }

  /// Remembers that a source is up to date after all, if the ledger of another part says that it was not made.
  func correctOthers(_ source: Source, _ entry: LedgerEntry) {
    if isReading { return }
    let others = ledgersOfOthers
    if others.isEmpty { return }
    let key = key(of: source)
    guard others.contains(where: { ($0.ledger.unmade(key)?.moment ?? .min) > entry.moment }) else { return }
    var entry = entry
    (entry.time, entry.moment) = (now, nanoseconds)
    ledger.record(entry)
  }

  private var ledgersOfOthers: [(file: Path, ledger: Ledger)] {
    others.withLock { others in
      let found = others ?? openOthers()
      others = found
      return found
    }
  }

  private func openOthers() -> [(file: Path, ledger: Ledger)] {
    let files = (try? LedgerSet.files(in: place)) ?? []
    return files.filter { $0 != file }.map { ($0, Ledger($0, for: .reading)) }
      .filter { (try? $0.1.open()) != nil && $0.1.mayHaveUnmade }
  }

  /// Forgets, also in the ledgers of other parts, that a source was not made: it is none now.
  private func forgetUnmade(_ key: Path) {
    if ledger.unmade(key) != nil { ledger.forget(key) }
    for other in ledgersOfOthers where other.ledger.unmade(key) != nil {
      let writing = Ledger(other.file, for: .writing)
      writing.forget(key)
      writing.write()
    }
  }

  /// The hash of all bytes that a source had when its thumbnails were made or last compared; nil if it is not known.
  func hash(of source: Source) -> UInt64? {
    guard let entry = entry(of: source), case .made = entry.outcome else { return nil }
    return entry.hash
  }

  func version(_ file: SourceFile.Version) -> LedgerEntry.Version {
    LedgerEntry.Version(bytes: file.bytes, modified: file.modified.wrappedNanoseconds, state: file.state?.value)
  }

  /// Remembers the hash of a source whose thumbnails are up to date.
  ///
  /// - Parameter file: the version that was read. Another one may have come since the walk.
  func record(hash: UInt64, of source: Source, _ file: SourceFile.Version) {
    if isReading { return }
    // A walk has entered it before.
    guard var entry = entry(of: source), case .made = entry.outcome, entry.hash != hash,
      version(file).isSame(as: entry.version)
    else { return }
    entry.hash = hash
    ledger.record(entry)
  }

  /// The SHA-256 digest that a source had when it was read last; nil if it is not known, or the file has changed.
  func digest(of source: Source) -> SHA256Digest? {
    guard let entry = entry(of: source), case .made = entry.outcome, let digest = entry.digest,
      version(of: source.path)?.isSame(as: entry.version) == true
    else { return nil }
    return SHA256Digest(bytes: digest)
  }

  /// Remembers the digest of a source whose thumbnails are up to date.
  func record(digest: SHA256Digest, of source: Source) {
    if isReading { return }
    // A walk has entered it before.
    guard var entry = entry(of: source), case .made = entry.outcome else { return }
    entry.digest = digest.bytes
    ledger.record(entry)
  }

  /// Remembers the result of a source that an operation has ended.
  ///
  /// - Parameters:
  ///   - file: the version that was read; nil if it was not opened.
  ///   - hash: of all its bytes; nil if it is not known.
  ///   - digest: the same.
  func record(_ report: SourceReport, _ file: SourceFile.Version?, hash: UInt64?, digest: SHA256Digest?) {
    if isReading || report.source.address != nil { return }
    let key = key(of: report.source)
    let version = file.map { self.version($0) }
    switch report.result {
    case .made:
      let first = report.thumbnails.first?.path.below(place)
      let states = report.thumbnails.compactMap(\.state)
      record(
        key, version, .made(thumbnails: report.thumbnails.count, first: first), hash, digest?.bytes,
        looks: ThumbnailMark.looks(together: report.thumbnails.map(\.looks)),
        thumbnails: states.count == report.thumbnails.count ? FileState.together(states) : nil)
    case .failed(let failure) where failure.kind == .collision: lost(report.source)
    // A file that neither is nor claims to be a picture was only given with others, as by a shell's *.
    case .failed(.source(.notAnImage)) where !report.source.path.hasPictureName: forgetUnmade(key)
    case .failed(let failure) where failure.isForGood:
      record(key, version, .failed(kind: failure.kind.rawValue, reason: "\(failure)"), hash)
    case .failed(.earlier): break
    // What was tried to the end is no suspect any more.
    case .failed: if ledger.unmade(key) != nil { ledger.forget(key) }
    case .notImage, .thumbnail, .unsupported, .gone: forgetUnmade(key)
    case .duplicate, .cancelled: break
    }
  }

  func record(
    _ source: Path, _ version: LedgerEntry.Version?, _ outcome: LedgerEntry.Outcome, _ hash: UInt64? = nil,
    _ digest: [UInt8]? = nil, looks: UInt64? = nil, thumbnails: FileState? = nil
  ) {
    var entry = LedgerEntry(
      source, version: version, outcome: outcome, settings: settings, program: program, time: now)
    (entry.hash, entry.digest, entry.thumbnails, entry.moment) = (hash, digest, thumbnails?.value, nanoseconds)
    (entry.looks, entry.key) = (looks, SourceKey(of: output.following(source), from: output).number)
    ledger.record(entry)
  }

  /// Now, in nanoseconds since 1970.
  private var nanoseconds: Int {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return time.wrappedNanoseconds
  }

  /// Forgets a source.
  func forget(_ source: Path) { if !isReading { ledger.forget(source.leading(from: output)) } }

  /// Forgets a source whose place another one has. With several outputs it may still have thumbnails in others.
  func lost(_ source: Source) { if hasOneOutput, source.address == nil { forget(source.path) } }

  /// Whether a source below a folder is remembered.
  func knows(anyBelow folder: Path) -> Bool { ledger.hasEntries(below: folder.leading(from: output)) }

  /// How many sources below a folder are remembered as made; nil if other ledgers may know of more, or if that cannot be read.
  func countMade(below folder: Path) -> Int? {
    guard !isReading, (try? LedgerSet.files(in: place)) == [file] else { return nil }
    ledger.write()
    return ledger.countMade(below: folder.leading(from: output))
  }

  /// The disks that were at the source folders, and at the mount points in them, by absolute path.
  ///
  /// - Throws: `LedgerError`
  func disks() throws(LedgerError) -> [Path: String] {
    if ledger.isNew, isReading { return [:] }
    var found: [Path: String] = [:]
    for (path, disk) in try ledger.disks() { found[output.following(path)] = disk }
    return found
  }

  /// Remembers the disks at folders.
  ///
  /// - Parameter replaces: whether to do so even if other ones are known.
  func record(disks: [Path: String], replacing replaces: Bool) {
    guard !isReading, !disks.isEmpty, let known = try? self.disks() else { return }
    for (folder, disk) in disks {
      guard let absolute = folder.absolute else { continue }
      let there = known[absolute]
      if there == nil || replaces && there != disk { ledger.record(disk: disk, at: absolute.leading(from: output)) }
    }
  }

  /// Writes what is not written yet. Opens the ledger if need be, so that this takes no time at the end.
  func write() {
    if isReading { return }
    try? ledger.open()
    ledger.write()
  }

  /// Writes what is not written yet, at the end of a run.
  func finish() { if !isReading { ledger.write(isLast: true) } }

  /// Why the run is not remembered, or only in part; nil if it is. A dry run needs no ledger.
  var problem: LedgerError? {
    switch ledger.problem?.kind {
    // A build without ledgers says so only if the user asks for a ledger.
    case .notBuilt: nil
    case .missing where isReading: nil
    default: ledger.problem
    }
  }
}

extension LedgerEntry.Version {
  init(_ status: stat) {
    self.init(
      bytes: Int(status.st_size), modified: status.modified.wrappedNanoseconds, state: FileState(status).value)
  }
}
