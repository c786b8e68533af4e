/// A variant's process at one moment. Memory is in bytes.
public struct Sample: Encodable, Sendable, Equatable {
  /// Since the process was started.
  public let seconds: Double
  public let rssBytes: Int
  /// The part of `rssBytes` that is not backed by files, and so most of what a limit counts. The rest is the program.
  public let anonymousBytes: Int
  public let threads: Int
  /// The counts that the process has reported last. The last sample is from the end of the process, which holds no
  /// memory any more: it repeats memory and threads of the sample before.
  public let waiting: Int
  public let running: Int
  public let done: Int
}

/// How a variant's process ended.
public enum Ending: String, Encodable, Sendable {
  /// It processed all sources.
  case finished
  /// It was told to stop, and stopped.
  case stopped
  /// The kernel killed it because its cgroup was full.
  case killedForMemory = "killed_for_memory"
  /// It crashed because it could get no more address space.
  case outOfAddressSpace = "out_of_address_space"
  /// Any other signal ended it.
  case signalled
  /// It ended by itself with the exit status of a failure.
  case failed
}

/// How a variant reacted when it was asked to list its operations, and then told to stop. Times are seconds.
public struct StopMeasurement: Encodable, Sendable, Equatable {
  /// When it was asked to list (USR1), and when it was told to stop (USR2), since its start.
  public var listSentAfterSeconds: Double?
  public var stopSentAfterSeconds: Double?
  /// How many operations it listed, and how long that took; nil if it listed none.
  public var listedOperations: Int?
  public var answerSeconds: Double?
  /// From being told to stop to the end of its process.
  public var secondsToEnd: Double?
  /// Thumbnails made after it had received USR2.
  public var thumbnailsMadeMeanwhile: Int?
  /// How many waited and ran when it received USR2. Where something waited, only those that ran then should still end.
  public var waitingAtStop: Int?
  public var runningAtStop: Int?
  /// Whether it had processed all sources before it received USR2.
  public var wasDoneBefore: Bool?
}

/// The measurement of one variant's run.
public struct VariantMeasurement: Encodable, Sendable {
  public let variant: Variant
  /// The number of its round, from 1; nil for a run that is no part of a round.
  public let round: Int?
  /// The size of its thumbnails, if it is not that of the rounds.
  public let size: String?
  public internal(set) var ending = Ending.finished
  public internal(set) var exitStatus: Int?
  public internal(set) var signal: Int?
  /// From the start of its process to the end.
  public internal(set) var seconds = 0.0
  /// The time that processors spent on it, in its own code and in the kernel.
  public internal(set) var processorSeconds = 0.0
  /// When the producer had handed on the last source, since the start of its process, by the counts that are sent every
  /// 50 ms; nil if it never did.
  public internal(set) var producerSeconds: Double?
  public internal(set) var thumbnails = 0
  public internal(set) var failed = 0
  /// The most memory that the process held at once, as counted by the kernel.
  public internal(set) var peakRssBytes = 0
  /// The most memory in a sample that was not backed by files.
  public internal(set) var peakAnonymousBytes = 0
  public internal(set) var peakWaiting = 0
  public internal(set) var peakRunning = 0
  public internal(set) var peakThreads = 0
  /// The names of the threads at that peak, as the kernel has them, and how many had each.
  public internal(set) var peakThreadNames: [String: Int] = [:]
  /// Nil if its process did not get as far as reporting them.
  public internal(set) var traits: VariantTraits?
  /// The first five sources that failed, with the reasons; `failed` counts all.
  public internal(set) var failures: [VariantFailure] = []
  /// Nil for a run that is not told to stop.
  public internal(set) var stop: StopMeasurement?
  public internal(set) var samples: [Sample] = []

  /// Whether it ran out of memory before it reported any source as processed.
  public var ranOutOfMemoryAtOnce: Bool {
    thumbnails == 0 && failed == 0 && (ending == .killedForMemory || ending == .outOfAddressSpace)
  }

  init(_ variant: Variant, _ purpose: RunPurpose) {
    self.variant = variant
    switch purpose {
    case .round(let number): (round, size) = (number, nil)
    case .size(let size): (round, self.size) = (nil, size)
    case .stop: (round, size, stop) = (nil, nil, StopMeasurement())
    }
  }
}
