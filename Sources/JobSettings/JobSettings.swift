import Fetching
import Files
import MemoryPressure
import Sourcing
import Thumbnails

/// All settings of a job, with their defaults.
///
/// A job file and the command line change these settings one after the other, so that the later one overrides the
/// earlier.
package struct JobSettings: Sendable, Equatable, DefaultSettings {
  /// How many operations may run at once.
  package static let maxRange = 1...1024

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
  /// What the job makes of its sources. Only thumbnails have outputs.
  @ComparableKind package var kind: any KindSettings = ThumbnailKind()
  /// What is made of all thumbnails, besides them.
  package var joins = JoinSettings()
  /// How many operations may run at once; nil means ``ProcessorCount/usable()``.
  package var max: Int?
  /// ``max``, or its default on this machine.
  package var maxInUse: Int { max ?? ProcessorCount.usable() }
  /// How many operations may wait; nil means four times ``max``.
  package var backlog: Int?
  /// How many files are read at once ahead of the operations.
  package var readers = Readers.auto
  /// Memory for all running operations together; nil lets ``MemoryPlan`` choose.
  package var memory: MemorySize?
  package var onPressure = PressureResponse.requeue
  package var pressureSource = PressureSignalChoice.auto
  /// Make thumbnails again even if they are up to date.
  package var force = false
  /// How to recognise that a source has not changed.
  package var verify = Verification.time
  /// Begin once no other run works on the outputs.
  package var waits = false
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
  package var knownFailures = KnownFailures.fail
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
  package var bucketOutputs: [StoreLocation] { outputs.compactMap(\.location) }

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
  package var operationsInUse: Int {
    maxInUse + (mayFetch ? network.connections : 0) + (readers == .auto ? 0 : readers.most)
  }

  /// Chooses what depends on other settings, once all are known: for a gallery, sizes for an overview and for a look at
  /// each picture, unless sizes were asked for.
  package mutating func complete() {
    guard joins.gallery != nil, outputs.allSatisfy({ $0.givenSizes == nil }) else { return }
    for index in outputs.indices { outputs[index].useGallerySizes() }
  }

  /// The sizes that ``complete()`` has chosen for a gallery; nil if it has chosen none.
  package var sizesForGallery: [SizeSpec]? {
    outputs.lazy.filter { $0.givenSizes == nil }.map(\.usualSizes).first { $0 == Preset.gallerySizes }
  }

  /// The first source that does not exist; nil if all do.
  package var missingSource: SourceArgument? { sources.first { !$0.exists } }
}

extension JobSettings {
  /// All settings of a job but those of its outputs.
  static let ownSettings = sourceSettings + networkSettings + joinSettings + runningSettings

  package static let thumbnailSettings = withinOutputs(OutputSettings.settings)
  package static let encodingSettings = withinOutputs(OutputSettings.encodingSettings)
  package static let joinSettings = JoinSettings.settings.map { $0.within(\JobSettings.joins) }
  package static let networkSettings = NetworkSettings.settings.map { $0.within(\JobSettings.network) }

  /// The same settings of all outputs together.
  private static func withinOutputs(_ settings: [Setting<OutputSettings>]) -> [Setting<JobSettings>] {
    settings.map {
      $0.within(
        parts: { $0.outputs },
        visit: { job, change throws(TextError) in
          for index in job.outputs.indices { try change(&job.outputs[index]) }
        })
    }
  }

  /// Those that choose files of a walk.
  package static let filterSettings: [Setting<JobSettings>] = [
    Setting(
      "include", \.filter.includes, .globs, value: "glob",
      "Read only files that match, such as '*.{jpg,png}'; repeatable."),
    Setting("exclude", \.filter.excludes, .globs, value: "glob", "Skip files and folders that match; repeatable."),
    Setting("hidden", \.filter.takesHidden, .flag, "Also read hidden files and folders, @eaDir and lost+found."),
    Setting("follow", \.followsLinks, .flag, "Follow symbolic links."),
  ]

  /// Those that choose sources and determine how faulty ones are treated.
  package static let sourceSettings: [Setting<JobSettings>] =
    filterSettings + [
      Setting(
        "verify", \.verify, .word, value: "way",
        "How to recognise that a source is unchanged: time, or content, which reads all of it.",
        onlyForThumbnails: true),
      Setting(
        "retry-failed", \.retryFailed, .flag,
        "Try sources again that failed for good in an earlier run, and have not changed.", onlyForThumbnails: true),
      Setting(
        "known-failures", \.knownFailures, .word, value: "meaning",
        "What such sources mean for the exit status: fail, or ok, which also leaves out their lines; for runs every night.",
        onlyForThumbnails: true),
      Setting(
        "fail-on", \.failOn, .word, value: "level",
        "The mildest fault that fails a source: truncated (samples that its thumbnails need are missing), error (or "
          + "corrupt), warning (any flaw of the whole file).", onlyForThumbnails: true),
      Setting(
        "isolate", \.isolate, .word, value: "sources",
        "Decode in fenced helper processes: auto (all but JPEG without faults), always, require (always, and nothing where "
          + "the kernel refuses a part of the fence), never (without the fence).", onlyForThumbnails: true),
      Setting(
        "limit-pixels", \.limitPixels, .pixels, value: "n", "The most pixels of a source: 500M, 1G.",
        onlyForThumbnails: true),
      Setting(
        "timeout", \.timeout, .duration, value: "duration",
        "The most time for a source: 90s, 5m. Time is measured in steps of 0.1 s, so a source may take up to 0.2 s longer."
      ),
      Setting("retries", \.retries, .number(in: 0...100), value: "n", "Try a source that failed this many times more."),
      listSetting,
      Setting(
        "shard", \.shardChoice,
        .text(ShardChoice.init(parsing:for:)), value: "I/N",
        "Make share I of N, by a hash of the paths; I from 0. auto takes I and N from the scheduler, auto/N only I. With "
          + "--files0-from and the folder of a split, make list I.",
        refusedByWatch: "a watch makes all files that change; give each watch folders of its own"),
      Setting(
        "force", \.force, .flag, "Also make thumbnails that are up to date.",
        refusedByWatch: "a watch would never be done; use it with run before"),
    ]

  /// A list is added to the other sources.
  package static let listSetting = Setting<JobSettings>(
    SettingInfo(
      name: "files0-from", form: .text, valueName: "file",
      purpose:
        "Read sources from a file, separated by NUL; - is standard input; with --shard, the folder of thumbjob split.",
      completion: .file(extensions: []), watchRefusal: "a list cannot be watched; name folders"),
    change: { texts, origin, job throws(TextError) in job.sources.append(.list(try origin.list(texts.last ?? ""))) },
    isChanged: { job in
      job.sources.contains { if case .list(let list) = $0 { list.separator == .nul } else { false } }
    })

  package static let maxSetting = Setting<JobSettings>(
    "max", letter: "j", otherOptions: ["jobs"], otherKeys: ["jobs"], \.max, .number(in: maxRange), value: "n",
    "Operations running at once.",
    default: "processors this process may use")

  /// Those that limit a run.
  package static let runningSettings: [Setting<JobSettings>] = [
    maxSetting,
    Setting(
      "backlog", \.backlog, .number(in: 0...1_000_000), value: "n",
      "Operations waiting; the walk pauses at this number.",
      default: "4 × max"),
    Setting(
      "readers", \.readers, .text(Readers.init(parsing:for:), text: { $0.text }), value: "n",
      "Files read at once ahead of the operations, in the order of their places on the disk: auto (1 of a spinning disk, 8 over "
        + "a network in the order of the walk, else 0) or a number."),
    Setting(
      "memory", \.memory, .text(MemorySize.init(parsing:for:)),
      value: "size", "Memory for all running operations together: 256M, 1G, 25%.",
      default: "half of the free memory less a reserve, at most 1G"),
    Setting(
      "on-pressure", \.onPressure, .word, value: "response",
      "What to do at critical memory; requeue cancels operations and makes them again later."),
    Setting(
      "pressure-source", \.pressureSource, .word, value: "name",
      "The signal of memory pressure; auto is the first that works."),
    Setting(
      "durable", \.durable, .flag,
      "Wait for the disk after each thumbnail, so that none of this run is lost if the system crashes."),
    Setting(
      "prune", \.prune, .pruneMode, value: "extent",
      "Remove the thumbnails of sources and sizes that are gone; on a terminal it asks first. --prune=all also if they are "
        + "more than half of a folder, --prune=force also if a folder is another one than before.",
      onlyForThumbnails: true),
    Setting(
      "wait", \.waits, .flag,
      "Begin once the runs that already work on the output folder have ended; other shares of the same sources do not count.",
      refusedByWatch: "whoever starts a watch expects it to be ready soon", onlyForThumbnails: true),
    Setting(
      "for", \.runFor, .duration, value: "duration",
      "Start nothing new after this time; exit status 75 if work remains.",
      refusedByWatch: endless),
    Setting(
      "halt", \.halt, .text(HaltLimit.init(parsing:for:)),
      value: "n or n%", "Stop after n failures, or once at least ten sources are done and n% of them have failed.",
      refusedByWatch: "a watch goes on after failures"),
    Setting(
      "dry-run", \.dryRun, .flag,
      "Print what would be made, and with --prune what would be removed; change nothing.", refusedByWatch: endless),
  ]

  private static let endless = "a watch has no end; use it with run"
}
