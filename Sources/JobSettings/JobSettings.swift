import Fetching
import Files
import MemoryPressure
import Sourcing
import Thumbnails

/// All settings of a job, with their defaults. The documentation repeats the defaults, and a test compares them.
///
/// A job file and the command line change these settings one after the other, so that the later one overrides the
/// earlier.
package struct JobSettings: Sendable, Equatable {
  /// The valid ranges of settings that are numbers.
  package static let maxRange = 1...1024
  package static let backlogRange = 0...1_000_000
  package static let retriesRange = 0...100
  package static let qualityRange = 1...100

  package var sources: [SourceArgument] = []
  package var filter = SourceFilter()
  /// The share of the sources that this job makes, as it was asked for; nil for all.
  package var shardChoice: ShardChoice?
  /// The same, as ``resolveLists(in:)`` has found it.
  package internal(set) var shard: Shard?
  /// Follow symbolic links in folders.
  package var followsLinks = false
  /// At least one output. Each has its own folder.
  package var outputs = [OutputSettings()]
  /// What is made of all thumbnails, besides them.
  package var joins = JoinSettings()
  /// How many operations may run at once; nil means ``ProcessorCount/usable()``.
  package var max: Int?
  /// ``max``, or its default on this machine.
  package var maxInUse: Int { max ?? ProcessorCount.usable() }
  /// How many operations may wait; nil means four times ``max``.
  package var backlog: Int?
  /// Memory for all running operations together; nil lets ``MemoryPlan`` choose.
  package var memory: MemorySize?
  package var onPressure = PressureResponse.requeue
  package var pressureSource = PressureSignalChoice.auto
  /// Make thumbnails again even if they are up to date.
  package var force = false
  /// How to recognise that a source has not changed.
  package var verify = Verification.time
  /// Write each thumbnail and its folders to the disk before it counts as made.
  package var durable = false
  /// Which faults of a source are errors.
  package var failOn = FailOn.error
  /// The most pixels that a source may have.
  package var limitPixels = 1_000_000_000
  /// Which sources are decoded in a fenced helper process.
  package var isolate = Isolation.auto
  /// The most time for one source.
  package var timeout = Duration.seconds(300)
  /// Try sources again that have failed for good.
  package var retryFailed = false
  /// Remove the thumbnails of sources that are gone, and of sizes that the job does not have.
  /// Nil if the job removes none.
  package var prune: PruneMode?
  /// The version of the program. Sources that failed with another version are tried again.
  package var program = ""
  /// How many more times to try a source after a failure that may be temporary.
  package var retries = 0
  /// Report the thumbnails that a run would make, and make none.
  package var dryRun = false
  /// After how many failures the job stops; nil means never.
  package var halt: HaltLimit?
  /// The time after which the job starts nothing new; nil means no limit.
  package var runFor: Duration?
  /// How sources are fetched from the network.
  package var network = NetworkSettings()
  /// How to follow the source folders once their thumbnails are made; nil if the job ends then.
  package var watch: WatchSettings?

  package init() {}

  /// The output folders in which no file is a source: those whose thumbnails mirror the tree of the sources. Where a
  /// pattern names the thumbnails, they may be beside their sources, and only their marks tell them apart.
  package var mirroredOutputs: [Path] { outputs.filter { $0.name == nil && $0.location == nil }.map(\.folder) }

  /// The parts of buckets to which the thumbnails go. No object in them is a source.
  package var bucketOutputs: [S3Location] { outputs.compactMap(\.location) }

  /// Whether the working folder is missing although a path starts from it. Then the places of thumbnails are not known.
  package var lacksWorkingFolder: Bool {
    let paths =
      outputs.filter { $0.location == nil }.map(\.folder)
      + sources.compactMap { if case .path(let path) = $0 { path } else { nil } }
    return paths.contains { !$0.isAbsolute } && Path.workingFolder == nil
  }

  /// Whether there may be sources from the network.
  package var mayFetch: Bool { sources.contains { if case .path = $0 { false } else { true } } }

  /// How many operations may run at once on all queues of the job.
  package var operationsInUse: Int { maxInUse + (mayFetch ? network.connections : 0) }

  /// The first source that does not exist; nil if all do.
  package var missingSource: SourceArgument? { sources.first { !$0.exists } }

  /// - Throws: ``TextError`` if settings that are valid by themselves contradict each other.
  package func validate() throws(TextError) {
    if let clash = outputs.lazy.compactMap({ OutputSettings.clash(in: $0.sizes) }).first {
      throw TextError(in: "size", "\(clash)")
    }
    if let clash = outputs.lazy.compactMap(\.clashOfPlaces).first { throw TextError(in: "name", "\(clash)") }
    if let file = outputs.lazy.map(\.folder).first(where: { $0.hasJPEGName && FileIdentity(of: $0) == nil }) {
      throw TextError(
        in: "out", "\(file.printable) looks like a file, but is to be the folder of the thumbnails; “name” names them")
    }
    if shardChoice != nil, !joins.isEmpty {
      throw TextError(
        in: "shard",
        "a share has only some of the thumbnails; once all shares are done, a run of all sources makes the "
          + "manifest, contact sheet or gallery")
    }
    try joins.validate()
    if prune != nil, sources.contains(where: { if case .list = $0 { true } else { false } }) {
      throw TextError(in: "prune", "a list does not tell which sources are gone; give the folders instead")
    }
    if prune != nil, sources.contains(where: { if case .address = $0 { true } else { false } }) {
      throw TextError(in: "prune", "a URL does not tell which sources are gone; give folders instead")
    }
    try validateBuckets()
    try watch?.validate(self)
    var folders: Set<Path> = []
    for output in outputs where !folders.insert(output.folder.normalized ?? output.folder).inserted {
      throw TextError(in: "out", "two outputs share the folder \(output.folder.printable); give each its own")
    }
  }
}

extension JobSettings {
  /// - Throws: ``TextError`` if an output is no place for thumbnails, or a job with thumbnails in a bucket wants what only
  ///   those in folders have.
  private func validateBuckets() throws(TextError) {
    for output in outputs where output.folder.isURL && output.location == nil {
      let shown = RemoteAddress.printable(output.folder.bytes)
      throw TextError(in: "out", "\(shown) is no place for thumbnails; name a folder, or s3://bucket/folder")
    }
    if bucketOutputs.isEmpty { return }
    func refuse(_ key: String, _ isSet: Bool, _ reason: String) throws(TextError) {
      if isSet { throw TextError(in: key, "\(reason), and these thumbnails go to a bucket") }
    }
    try refuse("out", bucketOutputs.count < outputs.count, "outputs in folders need a job of their own")
    try refuse("prune", prune != nil, "only thumbnails in folders can be pruned")
    try refuse("verify", verify == .content, "only the ledger of an output folder knows the hashes of sources")
    for kind in joins.paths.map(\.0) { try refuse(kind.setting, true, "it needs thumbnails in folders") }
    try refuse("out", watch != nil, "a watch needs thumbnails in folders")
  }

  /// Finds the share of this job, its list if there is a folder of lists, and the trees of lists that a split has written.
  ///
  /// - Parameter environment: the variables of the process.
  /// - Throws: ``TextError``.
  package mutating func resolveLists(in environment: [String: String]) throws(TextError) {
    for (index, source) in sources.enumerated() {
      guard case .list(let list) = source, let file = list.file else { continue }
      let (folder, known): (ListFolder?, SourceList?)
      do throws(ListFolderError) {
        folder = try ListFolder.read(file)
        known = try ListFolder.list(at: file)
      } catch {
        throw TextError(in: "files0-from", "\(error)")
      }
      if let folder {
        let share = try share(in: folder, environment)
        (shard, sources[index]) = (share, .list(folder.list(share.index)))
      } else if let known {
        sources[index] = .list(known)
      }
    }
    if shard == nil { shard = try shardChoice?.resolved(in: environment) }
  }

  private func share(in folder: ListFolder, _ environment: [String: String]) throws(TextError) -> Shard {
    guard let shardChoice else {
      throw TextError(
        in: "files0-from", "\(folder.path.printable) is a folder of lists; name one of them, or set “shard” to auto")
    }
    guard sources.count == 1 else {
      throw TextError(
        in: "files0-from", "with \(folder.path.printable), a folder of lists, there can be no other sources")
    }
    return try shardChoice.resolved(among: folder.parts, in: environment)
  }
}
