import BoundedQueue
import Files
import Foundation
import JobSettings
import Ledger
import Locking
import Marks
import MemoryPressure
import PictureMaking
import Places
import Sourcing
import Synchronization
import TraceRecording

/// A job walks its sources and makes of each what its kind makes, such as thumbnails, on a bounded queue.
///
/// It puts together an ``Engine`` with the kind of work and the capabilities that its settings ask for: ``PreparedKind``s have
/// them. ``stop(_:)`` ends the job at any moment; ``run()`` then returns the report.
///
/// From the outside in: `RunCommand` starts from the default settings and applies first the job file (`JobFile`) and
/// then the options. `RunSession` makes a job of the `JobSettings` and handles signals. The ``Engine`` walks the
/// sources (`SourceWalker`) and asks the ``JobKind``, such as ``MakeThumbnails``, for the place of each (`OutputPlan`, or a `NamePattern`). Those
/// that are up to date (by the ``JobLedger``, or else by the `SettingsStamp`) need nothing more; the others it submits
/// as ``ThumbnailOperation``s to a `BoundedOperationQueue`, which makes it wait while the backlog is full. An operation
/// reads its source's header, computes from it how much memory it will hold (`SourceInfo.bytesNeeded`), reserves that
/// from the queue's `MemoryBudget`, borrows a `ThumbnailMaker`, and puts its thumbnails in place through an
/// `OutputFolder`. Observers of the queue receive every step.
///
/// *Concurrency*: call ``run()`` once, on a thread that may block. Everything else may be called from any thread at any
/// time.
package final class Job: Sendable {
  package let queue: BoundedOperationQueue
  package let settings: JobSettings
  /// The memory that the operations may hold together.
  package let memory: MemoryPlan
  /// Nil if the job records no trace.
  package let trace: TraceRecorder?
  let engine: Engine
  let outputs: [ThumbnailOutput]
  /// Nil if the thumbnails are in folders, and in a dry run.
  let work: WorkFolder?
  private let decoders: PictureDecoders
  private let decodesPictures: Bool
  let onEvent: @Sendable (JobEvent) -> Void
  /// Whether ``countAhead()`` was called.
  let isCounted = Atomic(false)

  /// Makes the output folders, except in a dry run or if no source exists.
  ///
  /// - Parameters:
  ///   - trace: records the job. The caller closes it.
  ///   - onThumbnail: receives every thumbnail.
  ///   - onEvent: receives events on any thread, several at once. An operation keeps its place in the queue until its
  ///     event is handled, so a slow receiver slows the job.
  /// - Throws: ``OutputError``.
  package convenience init(
    _ settings: JobSettings, trace: TraceRecorder? = nil, onThumbnail: ThumbnailHandler? = nil,
    onEvent: @escaping @Sendable (JobEvent) -> Void
  ) throws(OutputError) {
    try self.init(
      settings, surroundings: Surroundings(), pressureRules: PressureRules(), trace: trace, onThumbnail: onThumbnail,
      onEvent: onEvent)
  }

  /// - Parameters:
  ///   - surroundings: where to read the memory limit, its use and its pressure.
  ///   - pressureRules: the thresholds of pressure levels.
  package init(
    _ settings: JobSettings, surroundings: Surroundings, pressureRules: PressureRules, trace: TraceRecorder? = nil,
    onThumbnail: ThumbnailHandler? = nil, onEvent: @escaping @Sendable (JobEvent) -> Void
  ) throws(OutputError) {
    self.settings = settings
    self.trace = trace
    self.onEvent = onEvent
    try Self.checkSources(settings)
    // If no source exists, the job makes no output folder.
    let hasSources = settings.sources.contains(where: \.exists)
    let isRead = settings.dryRun || !hasSources
    let kind = try Self.prepare(settings, isRead: isRead)
    decodesPictures = kind.decodesPictures
    let work = isRead || !kind.needsTemporaryFolder ? nil : try WorkFolder()
    let local = settings.outputs.indices.map { work?.path.appending(Path("\($0)")) ?? settings.outputs[$0].folder }
    self.work = work
    let spool = local.first?.appending(SourceWalker.workingFolderName) ?? kind.workingFolder ?? work?.path ?? "."
    let network = Network(
      settings.networkInUse, folder: spool, program: settings.program,
      sources: (settings.backlog ?? 4 * settings.maxInUse) + settings.maxInUse,
      fetches: settings.mayFetch, keeps: !settings.bucketOutputs.isEmpty)
    outputs = try Self.outputs(settings, local, network, isRead: isRead)
    let walker = SourceWalker(
      arguments: settings.sources, filter: settings.filter, followsLinks: settings.followsLinks,
      isSorted: kind.isSorted,
      outputs: settings.mirroredOutputs + (kind.workingFolder.map { [$0] } ?? []), shard: settings.shard,
      // Other programs show files of this machine only.
      lister: settings.outputs.contains { $0.name?.factKinds.contains(.uri) == true } ? nil as Network? : network,
      bucketOutputs: settings.bucketOutputs)
    let limit = MemoryLimit.find(in: surroundings)
    memory = MemoryPlan(
      settings.memory, limit: limit, usage: UsageReader(limit: limit, surroundings: surroundings).read())
    queue = BoundedOperationQueue(
      name: "\(settings.kind.words.result)s", maxConcurrentOperations: settings.maxInUse, backlog: settings.backlog,
      budget: memory.budget)
    decoders = PictureDecoders(settings.isolate, mostIdle: settings.maxInUse) { onEvent(.fence($0)) }
    let parts = JobParts(
      settings, kind, walker, outputs, hasSources: hasSources, network, queue, memory, surroundings, pressureRules,
      decoders,
      trace: trace, onThumbnail: onThumbnail, onEvent: onEvent)
    engine = Engine(
      try kind.make(parts), parts.capabilities, on: queue, walker,
      Engine.Rules(
        timeout: settings.timeout, runFor: settings.runFor, halt: settings.halt,
        requeues: settings.onPressure == .requeue, isForced: settings.force, hasOutput: hasSources),
      trace: trace,
      Engine.Listener(
        report: { onEvent(.source($0)) }, walkError: { onEvent(.walkError($0)) },
        postponed: { onEvent(.postponed($0)) }, stopping: { onEvent(.stopping($0)) }))
    if let trace {
      let operations = OperationTrace(trace)
      for queue in engine.queues { queue.observe { operations.record($0) } }
    }
  }

  /// The kinds of jobs. One goes with its folder and its line here.
  private static let kinds: [any PreparedKind.Type] = [PreparedThumbnails.self, Checksums.self]

  private static func prepare(_ settings: JobSettings, isRead: Bool) throws(OutputError) -> any PreparedKind {
    for type in kinds { if let kind = try type.init(settings, isRead: isRead) { return kind } }
    preconditionFailure("no kind of job has settings of type \(type(of: settings.kind))")
  }

  /// - Parameters:
  ///   - local: for each output, the folder for what a run needs besides thumbnails.
  ///   - isRead: whether the folders are only read.
  private static func outputs(
    _ settings: JobSettings, _ local: [Path], _ network: Network, isRead: Bool
  ) throws(OutputError) -> [ThumbnailOutput] {
    var outputs: [ThumbnailOutput] = []
    let identity = RunIdentity(settings)
    for (output, local) in zip(settings.outputs, local) {
      var options = output.thumbnailOptions(failOn: settings.failOn, limitPixels: settings.limitPixels)
      options.makesPlaceholder = !settings.joins.isEmpty
      let bucket = output.location.map {
        BucketOutput(location: $0, store: network, isForced: settings.force)
      }
      outputs.append(
        try ThumbnailOutput(
          path: output.place, name: output.name, layout: output.layout, options: options, isForced: settings.force,
          isDurable: settings.durable, isDryRun: isRead, destination: bucket, work: local, as: identity))
    }
    try checkFoldersDiffer(outputs)
    return outputs
  }

  /// Refuses outputs in which photos would be passed over: an output that is or encloses every source, and an output
  /// that is in a source folder and has photos before its first use.
  private static func checkSources(_ settings: JobSettings) throws(OutputError) {
    let parts = settings.bucketOutputs
    if !parts.isEmpty,
      let first = settings.sources.first,
      settings.sources.allSatisfy({ source in
        guard case .address(.store(let location)) = source else { return false }
        return parts.contains { $0.contains(location.asFolder) }
      })
    {
      throw OutputError(.isSource, Path(first.description))
    }
    let outputs = FolderSet(settings.mirroredOutputs)
    var folders: [Path] = []
    for case .path(let path) in settings.sources { folders.append(path) }
    if let first = folders.first, folders.count == settings.sources.count,
      folders.allSatisfy({ SourceArgument.path($0).exists && outputs.encloses($0) })
    {
      throw OutputError(.isSource, first)
    }
    for output in settings.mirroredOutputs {
      let isUsed = FileIdentity(of: output.appending(EarlierRuns.treeFile)) != nil
      // The sources are checked last, because there may be very many. Most outputs are new or were used before.
      guard !isUsed, FileIdentity(of: output.appending(".")) != nil, FolderSet(folders).encloses(output),
        let photo = firstPhoto(in: output)
      else { continue }
      throw OutputError(.hasPhotos(photo), output)
    }
  }

  /// The first picture in a folder that is not a thumbnail of thumbjob.
  private static func firstPhoto(in folder: Path) -> Path? {
    var photo: Path?
    SourceWalker(arguments: [.path(folder)]).walk(
      onError: { _ in },
      visit: { source in
        if SourceFile.isPicture(source.path) { photo = source.path }
        return photo == nil ? .goOn : .stop
      })
    return photo
  }

  /// Two outputs with the same folder, even under different paths, would overwrite each other's thumbnails, and so may
  /// two of which one is in the other.
  private static func checkFoldersDiffer(_ outputs: [ThumbnailOutput]) throws(OutputError) {
    for (index, output) in outputs.enumerated() {
      for other in outputs[..<index] {
        guard let one = output.destination, let two = other.destination else { continue }
        if one.overlaps(two) { throw OutputError(.shared, output.path) }
      }
    }
    var folders: Set<FileIdentity> = []
    for folder in outputs.flatMap(\.folders) {
      if let identity = FileIdentity(of: folder), !folders.insert(identity).inserted {
        throw OutputError(.shared, folder)
      }
    }
    for (index, output) in outputs.enumerated() {
      var others = outputs
      others.remove(at: index)
      if FolderSet(others.map(\.path)).encloses(output.path) { throw OutputError(.shared, output.path) }
    }
  }

  /// Walks the sources and makes their thumbnails. Returns when every operation has ended.
  ///
  /// - Throws: `PressureSignalError` if the requested pressure signals cannot be used. The job has then read no source.
  package func run() throws -> JobReport {
    if engine.rules.hasOutput, decodesPictures, let obstacle = PictureDecoders.obstacle {
      onEvent(.noDecoder(obstacle))
    }
    let walk: SourceWalk
    do { walk = try engine.run() } catch {
      closeOutputs()
      throw error
    }
    let (tally, stopCause, total, startedAt) = engine.state.withLock {
      ($0.tally, $0.stopCause, $0.total, $0.startedAt ?? .now)
    }
    let tree = engine.walker.tree.root
    if tally.thumbnails > 0 || tally.upToDate > 0 {
      // The thumbnails are good without this note, which only saves a later user a surprise.
      for output in outputs { try? output.note(tree: tree) }
    }
    closeOutputs()
    decoders.measureMemory()
    // Only now does the system count their processor time as used by this process.
    decoders.removeIdle()
    var report = JobReport(
      words: settings.kind.words, tally: tally, walk: walk.counters, counters: queue.counters,
      limits: queue.widestLimits,
      elapsed: .now - startedAt, peakMemory: decoders.peakMemory, memory: memory,
      pressureSource: settings.pressureSource, stopCause: stopCause, isWalkComplete: walk.isComplete,
      unmatchedPatterns: walk.isComplete && walk.counters.hasFiltered
        ? settings.filter.unmatched(walk.counters.matches) : ([], []),
      earlier: outputs.map(\.earlierToTell), tree: tree,
      replaced: outputs.reduce(0) { $0 + ($1.folder?.replacedCount ?? 0) },
      replacedOthers: outputs.reduce(0) { $0 + ($1.folder?.replacedOthersCount ?? 0) },
      notReached: total.map { walk.isComplete ? 0 : max(0, $0 - tally.found) })
    for capability in engine.capabilities { capability.tell(&report) }
    return report
  }
}
