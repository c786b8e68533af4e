/// The state of a run at one moment: the answer of `GET /status`.
///
/// The job creates it from snapshots under its own locks, without waiting for work.
public struct RunStatus: Codable, Sendable, Equatable {
  public var version: String
  /// The process, by its id.
  public var pid: Int
  /// The first few of its source arguments, as text.
  public var sources: [String]
  /// The first few of its output folders, as text.
  public var outputs: [String]
  /// Seconds since 1970, when the run began.
  public var startedAt: Double
  /// Seconds since the run began.
  public var elapsedSeconds: Double
  public var state: RunState
  /// Why the run is paused; nil if it is not.
  public var pausedBy: [PauseCause]?
  /// The runs of other processes whose ends the run waits for before it begins, as text; nil if it waits for none.
  public var waitsFor: [String]?
  /// Why the run stops early; nil if it does not.
  public var stopReason: String?
  /// How the run has ended; nil until its state is ``RunState/finished``.
  public var outcome: RunOutcome?
  public var counters: RunCounters
  public var limits: RunLimits
  public var memory: MemoryStatus
  public var pressure: PressureStatus
  public var rates: RunRates
  /// Nil if the run ends once its sources are done.
  public var watch: WatchStatus?
  /// Nil if the run has no sources from the network.
  public var fetches: FetchStatus?
  /// Estimated seconds until the run ends; nil while unknown.
  public var etaSeconds: Double?
  /// The first running operations, in the order in which they started; at most the requested number.
  public var running: [OperationStatus]
  /// The first waiting operations, in order; at most the requested number.
  public var waiting: [OperationStatus]

  enum CodingKeys: String, CodingKey {
    case version, pid, sources, outputs, state, outcome, counters, limits, memory, pressure, rates, watch, fetches
    case running, waiting
    case startedAt = "started_at"
    case elapsedSeconds = "elapsed_seconds"
    case pausedBy = "paused_by"
    case waitsFor = "waits_for"
    case stopReason = "stop_reason"
    case etaSeconds = "eta_seconds"
  }

  public init(
    version: String, pid: Int, sources: [String], outputs: [String], startedAt: Double, elapsedSeconds: Double,
    state: RunState, pausedBy: [PauseCause]? = nil, waitsFor: [String]? = nil, stopReason: String? = nil,
    outcome: RunOutcome? = nil,
    counters: RunCounters, limits: RunLimits, memory: MemoryStatus, pressure: PressureStatus, rates: RunRates,
    watch: WatchStatus? = nil, fetches: FetchStatus? = nil, etaSeconds: Double? = nil,
    running: [OperationStatus] = [], waiting: [OperationStatus] = []
  ) {
    (self.version, self.pid, self.sources, self.outputs) = (version, pid, sources, outputs)
    (self.startedAt, self.elapsedSeconds) = (startedAt, elapsedSeconds)
    (self.state, self.pausedBy, self.waitsFor) = (state, pausedBy, waitsFor)
    (self.stopReason, self.outcome) = (stopReason, outcome)
    (self.counters, self.limits) = (counters, limits)
    (self.memory, self.pressure, self.rates, self.etaSeconds) = (memory, pressure, rates, etaSeconds)
    (self.watch, self.fetches) = (watch, fetches)
    (self.running, self.waiting) = (running, waiting)
  }
}

/// The state of the whole run.
public enum RunState: String, Codable, Sendable, CaseIterable {
  case running
  /// No operation starts until the user resumes the run or memory is available again.
  case paused
  /// The run was stopped; running operations are finishing.
  case stopping
  case finished
}

/// Why a run is paused. Several causes can apply at once.
public enum PauseCause: String, Codable, Sendable, CaseIterable {
  /// The user paused it, and has to resume it.
  case user
  /// Memory is tight. The run goes on by itself when memory is available again.
  case pressure
  /// Clients have much to read. The run goes on by itself when they have read.
  case output
}

/// The speed of a run.
public struct RunRates: Codable, Sendable, Equatable {
  public var sourcesPerSecond: Double
  public var thumbnailsPerSecond: Double
  /// Source bytes processed per second.
  public var bytesPerSecond: Double

  enum CodingKeys: String, CodingKey {
    case sourcesPerSecond = "sources_per_second"
    case thumbnailsPerSecond = "thumbnails_per_second"
    case bytesPerSecond = "bytes_per_second"
  }

  public init(sourcesPerSecond: Double, thumbnailsPerSecond: Double, bytesPerSecond: Double) {
    self.sourcesPerSecond = sourcesPerSecond
    self.thumbnailsPerSecond = thumbnailsPerSecond
    self.bytesPerSecond = bytesPerSecond
  }
}
