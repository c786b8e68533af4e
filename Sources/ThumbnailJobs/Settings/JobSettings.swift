import Files
import MemoryPressure
import Thumbnails

/// Everything a job is told: the one place where all its options and their defaults live.
///
/// It is made from `JobOverlay`s, which hold what somebody said; what nobody said has its default from here.
public struct JobSettings: Sendable, Equatable {
  /// What the numbers among the options may be.
  public static let maxRange = 1...1024
  public static let backlogRange = 0...1_000_000
  public static let retriesRange = 0...100
  public static let qualityRange = 1...100

  public var sources: [SourceArgument] = []
  public var filter = SourceFilter()
  /// Follow symbolic links met in folders.
  public var followsLinks = false
  /// Where thumbnails go and of what kind; at least one, each with a folder of its own.
  public var outputs = [OutputSettings()]
  /// Operations running at once; nil is `ProcessorCount.usable()`.
  public var max: Int?
  /// `max` as it is: what was said, or what the machine has.
  public var maxInUse: Int { max ?? ProcessorCount.usable() }
  /// Operations waiting; nil is four times `max`.
  public var backlog: Int?
  /// Memory that running operations may hold together; nil for half of what is free, less a
  /// reserve (`MemoryPlan`).
  public var memory: MemorySize?
  public var onPressure = PressureResponse.requeue
  public var pressureSource = PressureSignalChoice.auto
  /// Make again what is up to date.
  public var force = false
  /// How broken a source may be.
  public var failOn = FailOn.error
  /// Pixels of a source at the most.
  public var limitPixels = 1_000_000_000
  /// Time for one source at the most.
  public var timeout = Duration.seconds(300)
  /// Further tries at a source that failed for a reason that may pass.
  public var retries = 0
  /// Say what would be made, make nothing.
  public var dryRun = false
  /// Give up after so many failures; nil is never.
  public var halt: HaltLimit?
  /// Stop after this time, leaving the rest for another run; nil is never.
  public var runFor: Duration?
  /// NDJSON events on standard output.
  public var json = false
  public var progress = ProgressStyle.auto
  public var verbose = false
  public var quiet = false
  /// The file for a trace of the run; nil is none.
  public var trace: Path?
  /// Where the job can be asked for its status, as text; nil is a private socket.
  public var status: String?

  public init() {}

  /// - Parameter overlays: what was said, the last word first: the command line, then the job file.
  /// - Throws: `TextProblem` where what was said does not go together, though each part is right.
  public init(_ overlays: JobOverlay...) throws(TextProblem) {
    let said = overlays.reduce(JobOverlay()) { $0.over($1) }
    sources = said.sources ?? sources
    filter = SourceFilter(includes: said.includes ?? [], excludes: said.excludes ?? [])
    followsLinks = said.followsLinks ?? followsLinks
    max = said.max
    backlog = said.backlog
    memory = said.memory
    onPressure = said.onPressure ?? onPressure
    pressureSource = said.pressureSource ?? pressureSource
    force = said.force ?? force
    failOn = said.failOn ?? failOn
    limitPixels = said.limitPixels ?? limitPixels
    timeout = said.timeout ?? timeout
    retries = said.retries ?? retries
    dryRun = said.dryRun ?? dryRun
    halt = said.halt
    runFor = said.runFor
    json = said.json ?? json
    progress = said.progress ?? progress
    verbose = said.verbose ?? verbose
    quiet = said.quiet ?? quiet
    trace = said.trace
    status = said.status
    // What is said of all outputs holds for each unless the output says otherwise; only a word that stands above the
    // outputs of a job file, the command line's, wins over both.
    outputs = (said.outputs ?? [OutputOverlay()]).map { OutputSettings($0.over(said.output)) }
    if verbose && quiet { throw TextProblem("verbose and quiet cannot both be asked for") }
    if let clash = outputs.lazy.compactMap({ OutputSettings.clash(in: $0.sizes) }).first {
      throw TextProblem("size: \(clash)")
    }
    var folders: Set<Path> = []
    for output in outputs where !folders.insert(output.folder.normalized ?? output.folder).inserted {
      throw TextProblem("out: two outputs share the folder \(output.folder.printable); give each its own")
    }
  }
}

/// One kind of thumbnails and the folder they go to.
public struct OutputSettings: Sendable, Equatable {
  public var folder: Path = "thumbs"
  /// At least one; each gets a folder of its name below `folder` when there are several.
  public var sizes = [SizeSpec.standard]
  /// 1 to 100.
  public var quality = 80
  public var progressive = false
  public var subsample = ChromaSubsampling.s420
  /// Kinds of metadata copied; none without being asked for.
  public var keep: KeptMetadata = []
  /// Resample in linear light.
  public var linear = false

  public init() {}

  init(_ said: OutputOverlay) {
    folder = said.folder ?? folder
    sizes = said.sizes ?? sizes
    quality = said.quality ?? quality
    progressive = said.progressive ?? progressive
    subsample = said.subsample ?? subsample
    keep = said.keep ?? keep
    linear = said.linear ?? linear
  }

  /// What is wrong with sizes that would share a folder; nil when none do.
  static func clash(in sizes: [SizeSpec]) -> String? {
    var names: Set<String> = []
    return sizes.first { !names.insert($0.name).inserted }.map { size in
      "two sizes are called \(size.name); name them apart, as in small=\(size)"
    }
  }

  /// The options that decide the bytes of a thumbnail.
  func thumbnailOptions(failOn: FailOn, limitPixels: Int) -> ThumbnailOptions {
    ThumbnailOptions(
      sizes: sizes, quality: quality, progressive: progressive, subsampling: subsample, keep: keep, linear: linear,
      failOn: failOn, limitPixels: limitPixels)
  }
}
