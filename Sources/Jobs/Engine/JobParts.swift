import BoundedQueue
import Files
import JobSettings
import MemoryPressure
import PictureMaking
import Places
import Sourcing
import Thumbnails
import TraceRecording

/// What a job is put together from. Each capability takes from it what it needs, also of those before it.
///
/// *Concurrency*: one thread uses it, while the job is made.
final class JobParts {
  let settings: JobSettings
  let walker: SourceWalker
  let outputs: [ThumbnailOutput]
  let kind: any PreparedKind
  /// Whether one of the sources exists.
  let hasSources: Bool
  let network: Network
  let queue: BoundedOperationQueue
  let memory: MemoryPlan
  /// Where to read the memory limit, its use and its pressure.
  let surroundings: Surroundings
  /// The thresholds of pressure levels.
  let pressureRules: PressureRules
  let makers = MakerPool()
  let decoders: PictureDecoders
  let trace: TraceRecorder?
  private let onThumbnail: ThumbnailHandler?
  let onEvent: @Sendable (JobEvent) -> Void
  /// Those that were made so far.
  private(set) var capabilities: [any JobCapability] = []

  init(
    _ settings: JobSettings, _ kind: any PreparedKind, _ walker: SourceWalker, _ outputs: [ThumbnailOutput],
    hasSources: Bool, _ network: Network, _ queue: BoundedOperationQueue, _ memory: MemoryPlan,
    _ surroundings: Surroundings, _ pressureRules: PressureRules, _ decoders: PictureDecoders, trace: TraceRecorder?,
    onThumbnail: ThumbnailHandler?, onEvent: @escaping @Sendable (JobEvent) -> Void
  ) {
    (self.settings, self.kind, self.walker, self.outputs) = (settings, kind, walker, outputs)
    self.hasSources = hasSources
    (self.network, self.queue, self.memory, self.surroundings) = (network, queue, memory, surroundings)
    (self.pressureRules, self.decoders, self.trace) = (pressureRules, decoders, trace)
    (self.onThumbnail, self.onEvent) = (onThumbnail, onEvent)
  }

  /// Whether nothing is made.
  var isRead: Bool { settings.dryRun || !hasSources }

  /// Makes the capabilities that the settings ask for.
  func make(_ table: [any JobCapability.Type]) throws(OutputError) {
    for type in table { if let capability = try type.init(self) { capabilities.append(capability) } }
  }

  /// What remembers sources, which must be made before; nil if nothing does.
  var sourceMemory: (any SourceMemory)? { capabilities.first(of: (any SourceMemory).self) }

  /// What is known of sources from the network. It has what remembers results, which must be made before.
  var remoteResults: RemoteResults {
    if let memory = capabilities.first(of: (any ResultMemory).self) {
      return RemoteResults { memory.remoteState(of: $0) }
    }
    return RemoteResults(outputs)
  }

  /// The places of the thumbnails.
  private(set) lazy var plan = OutputPlan(
    walker: walker, isMirrored: outputs.contains(where: \.isMirrored), formats: mirroredFormats)

  /// The formats of the outputs that mirror the tree. If none does, JPEG stands for all: which file is given twice does not depend on
  /// the format.
  private var mirroredFormats: [ThumbnailFormat] {
    let found = ThumbnailFormat.allCases.filter { format in
      outputs.contains { $0.isMirrored && $0.options.formats.contains(format) }
    }
    return found.isEmpty ? [.jpeg] : found
  }

  /// What the operations share. It has what remembers sources, which must be made before.
  private(set) lazy var shared: ThumbnailOperation.Shared = {
    let memory = sourceMemory
    return ThumbnailOperation.Shared(
      outputs: outputs,
      owners: Owners(
        remembered: { memory?.sources(withKey: $0) ?? [] }, forget: { memory?.forget(key: $0) }, plan: plan,
        tree: walker.tree.root),
      memory: self.memory, makers: makers, decoders: decoders, retries: settings.retries, trace: trace,
      hashing: memory == nil || isRead ? .never : settings.verify == .content ? .always : .ifRead,
      describesSources: !isRead && !settings.joins.isEmpty,
      digestsSources: !isRead && settings.joins.manifestFields.contains(.sha256), underWay: memory?.underWay,
      onThumbnail: onThumbnail)
  }()
}
