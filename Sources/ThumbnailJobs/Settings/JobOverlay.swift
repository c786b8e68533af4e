import Files
import MemoryPressure
import Thumbnails

/// What somebody said about a job, on the command line or in a job file. Nil is "not said".
public struct JobOverlay: Sendable, Equatable {
  public var sources: [SourceArgument]?
  public var includes: [Glob]?
  public var excludes: [Glob]?
  public var followsLinks: Bool?
  /// Said of all outputs.
  public var output = OutputOverlay()
  /// Said of each output, where there are several.
  public var outputs: [OutputOverlay]?
  public var max: Int?
  public var backlog: Int?
  public var memory: MemorySize?
  public var onPressure: PressureResponse?
  public var pressureSource: PressureSignalChoice?
  public var force: Bool?
  public var failOn: FailOn?
  public var limitPixels: Int?
  public var timeout: Duration?
  public var retries: Int?
  public var dryRun: Bool?
  public var halt: HaltLimit?
  public var runFor: Duration?
  public var json: Bool?
  public var progress: ProgressStyle?
  public var verbose: Bool?
  public var quiet: Bool?
  public var trace: Path?
  public var status: String?

  public init() {}

  /// This overlay's words, and the other's where this one says nothing.
  ///
  /// What this one says of all outputs wins over what the other says of each.
  public func over(_ other: JobOverlay) -> JobOverlay {
    var result = JobOverlay()
    result.sources = sources ?? other.sources
    result.includes = includes ?? other.includes
    result.excludes = excludes ?? other.excludes
    result.followsLinks = followsLinks ?? other.followsLinks
    result.output = output.over(other.output)
    result.outputs = outputs ?? other.outputs?.map { output.over($0) }
    result.max = max ?? other.max
    result.backlog = backlog ?? other.backlog
    result.memory = memory ?? other.memory
    result.onPressure = onPressure ?? other.onPressure
    result.pressureSource = pressureSource ?? other.pressureSource
    result.force = force ?? other.force
    result.failOn = failOn ?? other.failOn
    result.limitPixels = limitPixels ?? other.limitPixels
    result.timeout = timeout ?? other.timeout
    result.retries = retries ?? other.retries
    result.dryRun = dryRun ?? other.dryRun
    result.halt = halt ?? other.halt
    result.runFor = runFor ?? other.runFor
    result.json = json ?? other.json
    result.progress = progress ?? other.progress
    result.verbose = verbose ?? other.verbose
    result.quiet = quiet ?? other.quiet
    result.trace = trace ?? other.trace
    result.status = status ?? other.status
    return result
  }
}

/// What somebody said about one output. Nil is "not said".
public struct OutputOverlay: Sendable, Equatable {
  public var folder: Path?
  public var sizes: [SizeSpec]?
  public var quality: Int?
  public var progressive: Bool?
  public var subsample: ChromaSubsampling?
  public var keep: KeptMetadata?
  public var linear: Bool?

  public init() {}

  /// This overlay's words, and the other's where this one says nothing.
  public func over(_ other: OutputOverlay) -> OutputOverlay {
    var result = OutputOverlay()
    result.folder = folder ?? other.folder
    result.sizes = sizes ?? other.sizes
    result.quality = quality ?? other.quality
    result.progressive = progressive ?? other.progressive
    result.subsample = subsample ?? other.subsample
    result.keep = keep ?? other.keep
    result.linear = linear ?? other.linear
    return result
  }
}
