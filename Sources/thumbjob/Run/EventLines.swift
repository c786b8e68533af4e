import ArgumentParser
import BoundedQueue
import Files
import Foundation
import JobSettings
import Jobs
import PictureMaking
import Places
import Sourcing

/// The event of a source that is done. A ``LineResult`` has its other fields.
struct SourceLine: Encodable {
  let event = "source"
  let source: JSONPath
  let outcome: String
  let id: Int?
  /// The size of the source; nil if this run has not opened it.
  let bytes: Int?
  let waitedSeconds: Double?
  let ranSeconds: Double?
  let thumbnails: [ThumbnailFields]
  let warnings: [String]?
  var type: String?
  var kind: String?
  var error: String?
  var bytesNeeded: Int?
  /// Whether this run has tried the source; nil if it has not failed.
  var tried: Bool?

  init(_ report: SourceReport, isDryRun: Bool) {
    source = JSONPath(report.source.path)
    bytes = report.bytes
    id = report.operation?.id
    waitedSeconds = report.operation.map { $0.waited / .seconds(1) }
    ranSeconds = report.operation.map { $0.ran / .seconds(1) }
    thumbnails = report.thumbnails.map { ThumbnailFields($0, path: $0.path) }
    let warnings = (report.shortfall.map { [$0] } ?? []) + report.warnings
    self.warnings = warnings.isEmpty ? nil : warnings
    switch report.result {
    case .made: outcome = isDryRun ? "would-make" : "made"
    case .notImage: outcome = "passed-over"
    case .thumbnail: outcome = "own-thumbnail"
    case .unsupported(let type):
      outcome = "not-read"
      self.type = type.rawValue
    case .duplicate: outcome = "duplicate"
    case .gone: outcome = "gone"
    case .failed(let failure):
      outcome = "failed"
      kind = failure.kind.rawValue
      error = Advice.line(failure)
      bytesNeeded = failure.bytesNeeded
      tried = report.operation != nil && failure.kind != .collision
    case .cancelled(let reason):
      outcome = "cancelled"
      error = "cancelled \(reason)"
    }
  }
}

/// The event of a path that the walk could not read.
struct WalkErrorLine: Encodable {
  let event = "problem"
  let path: JSONPath
  let error: String

  init(_ error: WalkError) {
    path = JSONPath(error.path)
    self.error = Advice.line(error)
  }
}

/// The event of another process that works on an output.
struct OtherRunLine: Encodable {
  let event = "other-run"
  let path: JSONPath
  var pid, since: Int?
  var machine, sources: String?
  let waitsFor: Bool

  init(_ run: RunIdentity, _ output: Path, isAwaited: Bool) {
    (path, waitsFor) = (JSONPath(output), isAwaited)
    if run.process > 0 { pid = run.process }
    if run.began > 0 { since = run.began }
    if !run.machine.isEmpty { machine = run.machine }
    if !run.sources.isEmpty { sources = run.sources }
  }
}

/// The event of a watch: a change of how it finds changes, or of its source folders.
struct WatchLine: Encodable {
  let event = "watch"
  let state: String
  var path: JSONPath?
  var folders: Int?
  var reason: String?
  var pollSeconds: Double?

  init(_ note: WatchNote) {
    switch note {
    case .ready(let folders): (state, self.folders) = ("ready", folders)
    case .polling(let path, let reason, let pause):
      (state, self.path, pollSeconds) = ("polling", JSONPath(path), pause / .seconds(1))
      self.reason =
        switch reason {
        case .wanted: "asked-for"
        case .remote(let name): name
        case .limit: "limit"
        case .linked: "linked"
        case .failed(let error): error.description
        }
    case .linked(let path, let pause): (state, self.path, pollSeconds) = ("linked", JSONPath(path), pause / .seconds(1))
    case .overflow: state = "overflow"
    case .notSwept(let refusal): (state, reason) = ("not-pruned", "\(refusal)")
    case .gone(let path): (state, self.path) = ("gone", JSONPath(path))
    case .back(let path): (state, self.path) = ("back", JSONPath(path))
    }
  }
}

/// The event of a thumbnail whose source or size is gone.
struct RemovalLine: Encodable {
  let event: String
  let path: JSONPath
  var bytes: Int?
  var error: String?

  init(_ path: Path, _ result: Result<Int, OutputError>, isDryRun: Bool = false) {
    event = isDryRun ? "would-remove" : "removed"
    self.path = JSONPath(path)
    switch result {
    case .success(let bytes): self.bytes = bytes
    case .failure(let error): self.error = Advice.line(error)
    }
  }
}

/// The event of a manifest, a contact sheet, a gallery or a list of checksums.
struct JoinLine: Encodable {
  let event: String
  let path: JSONPath
  let outcome: String
  var sources, pages: Int?
  var error: String?
  var warnings: [String]?

  init(_ report: JoinReport) {
    warnings = report.warnings.isEmpty ? nil : report.warnings
    event = report.kind.event
    path = JSONPath(report.path)
    switch report.result {
    case .made: outcome = "made"
    case .unchanged: outcome = "up-to-date"
    case .notMade: outcome = "not-made"
    case .withheld: (outcome, error) = ("not-made", report.whyWithheld)
    case .failed(let failure): (outcome, error) = ("failed", Advice.line(failure))
    }
    guard report.isInPlace else { return }
    if report.kind == .contactSheet { pages = report.count } else { sources = report.count }
  }
}

extension JoinReport {
  /// Why it was withheld.
  var whyWithheld: String { "it would lack \(kind.missing) that could not be read" }

  /// What the contact sheet could not show, a line each.
  var warnings: [String] { [unusableText, unshownText].compactMap(\.self) }

  /// A line about thumbnails that the contact sheet could not show; nil if there are none.
  private var unusableText: String? {
    guard let first = unusable.first else { return nil }
    let count = Units.count(unusable.count, "thumbnail")
    return "\(count) could not be read, such as that of \(printableText(of: Array(first.description.utf8)))"
  }

  /// A line about names that the contact sheet shows with question marks; nil if there are none.
  private var unshownText: String? {
    guard let unshown else { return nil }
    let shown =
      "\(Units.count(unshown.count, "text")) shown with “?”, such as “\(printableText(of: Array(unshown.first.utf8)))”"
    guard let reason = unshown.reason else {
      return
        "\(shown): no font of the system has these characters; install one, such as fonts-noto-core or fonts-noto-cjk"
    }
    let way = BuildTrait.formats.isBuilt ? "; install libharfbuzz-subset0, libfontconfig1 and libfribidi0" : ""
    return "\(shown), because \(reason)\(way)"
  }
}

/// The event of a change of memory pressure.
struct PressureLine: Encodable {
  let event = "pressure"
  let level: String
  let cause: String?
  let action: String
  var max: Int?
  var cancelled: [Int]?

  init(_ note: PressureNote) {
    level = "\(note.level)"
    cause = note.cause.map { "\($0)" }
    switch note.action {
    case .paused: action = "paused"
    case .requeued(let operations), .stopped(let operations):
      if case .requeued = note.action { action = "requeued" } else { action = "stopped" }
      cancelled = (operations.running + operations.waiting).map(\.id)
    case .resumed(let max), .widened(let max):
      if case .resumed = note.action { action = "resumed" } else { action = "widened" }
      self.max = max
    case .oneAtATime:
      action = "one-at-a-time"
      max = 1
    case .signalsLost: action = "lost-source"
    case .none: action = "none"
    }
  }
}

/// The last event, with the peaks beside their limits. ``JobTally/numbers(for:isDryRun:)`` has its other fields.
struct SummaryLine: Encodable {
  let event = "summary"
  /// The output folders.
  let outputs: [JSONPath]
  let excluded, hidden, linksNotFollowed, specialFiles, inOutput: Int
  /// The share `I/N` of the sources, and how many files are in others.
  let shard: String?
  let inOtherShards: Int?
  /// Nil for a job without sources from the network.
  let bytesFetched, peakFetching: Int?
  /// Nil for a job that does not watch its folders.
  let removed, gone: Int?
  /// Photos whose thumbnails were moved, because they have another path; nil if there are none.
  let moved: Int?
  /// Thumbnails of photos that are gone, which the run has left; nil if there are none, or if it is not known.
  let goneThumbnails: Int?
  /// Why `--prune` removed nothing; nil if there was no reason.
  let pruneRefused: String?
  let elapsedSeconds, thumbnailsPerSecond, bytesPerSecond: Double
  let max, backlog, peakRunning, peakWaiting, peakMemoryBytes: Int
  let budgetBytes, peakReservedBytes, baselineBytes, memoryLimitBytes: Int
  let worstMemoryRatio: Double?
  let pressureSource: String
  let cancelledForDependencies: Int
  let notReached: Int?
  let dryRun, workRemains: Bool
  let exitStatus: Int32

  init(_ report: JobReport, _ settings: JobSettings, exitCode: ExitCode) {
    let tally = report.tally
    outputs = settings.places.map { JSONPath($0) }
    (excluded, hidden) = (report.walk.filtered, report.walk.hidden)
    (linksNotFollowed, specialFiles) = (report.walk.linksNotFollowed, report.walk.special)
    inOutput = report.walk.inOutput
    shard = settings.shard.map { "\($0)" }
    inOtherShards = settings.shard.flatMap { $0.isList ? nil : report.walk.inOtherShards }
    (bytesFetched, peakFetching) = (report.fetches?.bytes, report.fetches?.peak)
    let pruned = report.pruned?.thumbnails
    removed = settings.watch == nil && tally.removed == 0 ? pruned : tally.removed + (pruned ?? 0)
    gone = settings.watch == nil ? nil : tally.gone
    moved = report.moved > 0 ? report.moved : nil
    goneThumbnails = report.gone?.thumbnails
    pruneRefused =
      report.pruneRefusals.isEmpty ? nil : report.pruneRefusals.map(\.description).joined(separator: "; ")
    elapsedSeconds = report.elapsed / .seconds(1)
    thumbnailsPerSecond = settings.dryRun ? 0 : report.thumbnailsPerSecond
    bytesPerSecond = report.bytesPerSecond
    (max, backlog) = (report.limits.maxConcurrentOperations, report.limits.backlog)
    (peakRunning, peakWaiting) = (report.counters.peakRunning, report.counters.peakWaiting)
    peakMemoryBytes = report.peakMemory
    (budgetBytes, peakReservedBytes) = (report.limits.budget?.bytes ?? 0, report.counters.peakReserved)
    (baselineBytes, memoryLimitBytes) = (report.memory.baseline, report.memory.limit.bytes)
    worstMemoryRatio = report.worstMemoryRatio
    pressureSource = report.pressureSource.rawValue
    cancelledForDependencies = report.counters.cancelledForDependencies
    notReached = report.notReached
    (dryRun, workRemains) = (settings.dryRun, report.workRemains)
    exitStatus = exitCode.rawValue
  }
}
