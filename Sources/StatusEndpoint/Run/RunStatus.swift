/// A run at one moment: what `GET /status` answers.
///
/// Whoever runs the job makes one from snapshots it takes under its own locks; it must not wait for work to do so.
public struct RunStatus: Codable, Sendable, Equatable {
  public var version: String
  /// The process, by its id.
  public var pid: Int
  /// What it was told to work on, as text: the first few.
  public var sources: [String]
  /// Seconds since 1970, when the run began.
  public var startedAt: Double
  /// Seconds since the run began.
  public var elapsedSeconds: Double
  public var state: RunState
  /// Why the run ends before its sources do, once that is so.
  public var stopReason: String?
  public var counters: RunCounters
  public var limits: RunLimits
  public var memory: MemoryStatus
  public var pressure: PressureStatus
  public var rates: RunRates
  /// Seconds until all is done, if it goes on like this; nil while unknown.
  public var etaSeconds: Double?
  /// The first operations that run, in the order in which they got their places; at most as many as were asked for.
  public var running: [OperationStatus]
  /// The first that wait, first to start first; at most as many as were asked for.
  public var waiting: [OperationStatus]

  enum CodingKeys: String, CodingKey {
    case version, pid, sources, state, counters, limits, memory, pressure, rates, running, waiting
    case startedAt = "started_at"
    case elapsedSeconds = "elapsed_seconds"
    case stopReason = "stop_reason"
    case etaSeconds = "eta_seconds"
  }

  public init(
    version: String, pid: Int, sources: [String], startedAt: Double, elapsedSeconds: Double, state: RunState,
    stopReason: String? = nil,
    counters: RunCounters, limits: RunLimits, memory: MemoryStatus, pressure: PressureStatus, rates: RunRates,
    etaSeconds: Double? = nil, running: [OperationStatus] = [], waiting: [OperationStatus] = []
  ) {
    (self.version, self.pid, self.sources) = (version, pid, sources)
    (self.startedAt, self.elapsedSeconds) = (startedAt, elapsedSeconds)
    (self.state, self.stopReason, self.counters, self.limits) = (state, stopReason, counters, limits)
    (self.memory, self.pressure, self.rates, self.etaSeconds) = (memory, pressure, rates, etaSeconds)
    (self.running, self.waiting) = (running, waiting)
  }
}

/// What a run as a whole is doing.
public enum RunState: String, Codable, Sendable, CaseIterable {
  case running
  /// Nothing new is started until somebody resumes it, or memory is there again.
  case paused
  /// Somebody or something has ended it; what runs is finishing.
  case stopping
  case finished
}

/// How fast a run is, over its whole time so far.
public struct RunRates: Codable, Sendable, Equatable {
  public var sourcesPerSecond: Double
  public var thumbnailsPerSecond: Double
  /// Bytes of sources done with, each second.
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
