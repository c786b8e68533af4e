import Fetching
import Files
import MemoryPressure
import Thumbnails

/// All settings of a job, with their defaults. The documentation repeats the defaults, and a test compares them.
///
/// A job file and the command line change these settings one after the other, so that the later one overrides the
/// earlier.
public struct JobSettings: Sendable, Equatable {
  /// The valid ranges of settings that are numbers.
  public static let maxRange = 1...1024
  public static let backlogRange = 0...1_000_000
  public static let retriesRange = 0...100
  public static let qualityRange = 1...100

  public var sources: [SourceArgument] = []
  public var filter = SourceFilter()
  /// The share of the sources that this job makes, as it was asked for; nil for all.
  public var shardChoice: ShardChoice?
  /// The same, as ``resolveLists(in:)`` has found it.
  public internal(set) var shard: Shard?
  /// Follow symbolic links in folders.
  public var followsLinks = false
  /// At least one output. Each has its own folder.
  public var outputs = [OutputSettings()]
  /// What is made of all thumbnails, besides them.
  public var joins = JoinSettings()
  /// How many operations may run at once; nil means ``ProcessorCount/usable()``.
  public var max: Int?
  /// ``max``, or its default on this machine.
  public var maxInUse: Int { max ?? ProcessorCount.usable() }
  /// How many operations may wait; nil means four times ``max``.
  public var backlog: Int?
  /// Memory for all running operations together; nil lets ``MemoryPlan`` choose.
  public var memory: MemorySize?
  public var onPressure = PressureResponse.requeue
  public var pressureSource = PressureSignalChoice.auto
  /// Make thumbnails again even if they are up to date.
  public var force = false
  /// How to recognise that a source has not changed.
  public var verify = Verification.time
  /// Write each thumbnail and its folders to the disk before it counts as made.
  public var durable = false
  /// Which faults of a source are errors.
  public var failOn = FailOn.error
  /// The most pixels that a source may have.
  public var limitPixels = 1_000_000_000
  /// Which sources are decoded in a fenced helper process.
  public var isolate = Isolation.auto
  /// The most time for one source.
  public var timeout = Duration.seconds(300)
  /// Try sources again that have failed for good.
  public var retryFailed = false
  /// Remove the thumbnails of sources that are gone, and of sizes that the job does not have.
  /// Nil if the job removes none.
  public var prune: PruneMode?
  /// The version of the program. Sources that failed with another version are tried again.
  public var program = ""
  /// How many more times to try a source after a failure that may be temporary.
  public var retries = 0
  /// Report the thumbnails that a run would make, and make none.
  public var dryRun = false
  /// After how many failures the job stops; nil means never.
  public var halt: HaltLimit?
  /// The time after which the job starts nothing new; nil means no limit.
  public var runFor: Duration?
  /// How sources are fetched from the network.
  public var network = NetworkSettings()
  /// How to follow the source folders once their thumbnails are made; nil if the job ends then.
  public var watch: WatchSettings?

  public init() {}

  /// The output folders in which no file is a source: those whose thumbnails mirror the tree of the sources. Where a
  /// pattern names the thumbnails, they may be beside their sources, and only their marks tell them apart.
  var mirroredOutputs: [Path] { outputs.filter { $0.name == nil && $0.location == nil }.map(\.folder) }

  /// The parts of buckets to which the thumbnails go. No object in them is a source.
  var bucketOutputs: [S3Location] { outputs.compactMap(\.location) }

  /// Whether the working folder is missing although a path starts from it. Then the places of thumbnails are not known.
  public var lacksWorkingFolder: Bool {
    let paths =
      outputs.filter { $0.location == nil }.map(\.folder)
      + sources.compactMap { if case .path(let path) = $0 { path } else { nil } }
    return paths.contains { !$0.isAbsolute } && Path.workingFolder == nil
  }

  /// Whether there may be sources from the network.
  var mayFetch: Bool { sources.contains { if case .path = $0 { false } else { true } } }

  /// How many operations may run at once on all queues of the job.
  public var operationsInUse: Int { maxInUse + (mayFetch ? network.connections : 0) }

  /// The first source that does not exist; nil if all do.
  public var missingSource: SourceArgument? { sources.first { !$0.exists } }

  /// - Throws: ``TextError`` if settings that are valid by themselves contradict each other.
  public func validate() throws(TextError) {
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
  public mutating func resolveLists(in environment: [String: String]) throws(TextError) {
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
