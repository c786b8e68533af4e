/// One look at a variant's process. Memory is in bytes.
public struct Sample: Encodable, Sendable, Equatable {
  /// Since the process was started.
  public let seconds: Double
  public let rssBytes: Int
  /// Of that, what is not backed by files, such as the program itself: most of what a limit counts.
  public let anonymousBytes: Int
  public let threads: Int
  /// As the process said last. The last sample is of its end, where it has no memory any more: that is of the one before.
  public let waiting: Int
  public let running: Int
  public let done: Int
}

/// How a variant's process ended.
public enum Ending: String, Encodable, Sendable {
  /// It came to the end of its sources.
  case finished
  /// It was told to stop, and did.
  case stopped
  /// The kernel killed it because its cgroup was full.
  case killedForMemory = "killed_for_memory"
  /// It crashed where it could get no more address space.
  case outOfAddressSpace = "out_of_address_space"
  /// A signal of another kind.
  case signalled
  /// It ended by itself with an exit status that says so.
  case failed

  var displayName: String {
    switch self {
    case .finished, .stopped, .failed: rawValue
    case .killedForMemory: "killed for memory"
    case .outOfAddressSpace: "out of address space"
    case .signalled: "ended by a signal"
    }
  }
}

/// What came of telling a variant to stop.
public struct StopMeasurement: Encodable, Sendable, Equatable {
  /// When it was sent USR1, and when USR2; since its start.
  public var listSentAfterSeconds: Double?
  public var stopSentAfterSeconds: Double?
  /// How many operations it named in answer to USR1, and how long that took; nil where it had nothing to say.
  public var listedOperations: Int?
  public var answerSeconds: Double?
  /// From USR2 to the end of its process.
  public var secondsToEnd: Double?
  /// Thumbnails that were made in that time.
  public var thumbnailsMadeMeanwhile: Int?
}

/// One variant's run over all sources, measured.
public struct VariantMeasurement: Encodable, Sendable {
  public let variant: Variant
  public internal(set) var ending = Ending.finished
  public internal(set) var exitStatus: Int?
  public internal(set) var signal: Int?
  /// From the start of its process to its end.
  public internal(set) var seconds = 0.0
  public internal(set) var thumbnails = 0
  public internal(set) var failed = 0
  /// The most the process held at once, by the kernel's own count.
  public internal(set) var peakRssBytes = 0
  /// The most of that seen in a sample that was not backed by files: most of what a limit counts.
  public internal(set) var peakAnonymousBytes = 0
  public internal(set) var peakWaiting = 0
  public internal(set) var peakRunning = 0
  public internal(set) var peakThreads = 0
  /// How many operations may wait; nil where nothing bounds them.
  public internal(set) var backlog: Int?
  /// What the variant gives to its operations; nil where it has no budget.
  public internal(set) var budgetBytes: Int?
  /// The first sources that failed, and why; `failed` counts all.
  public internal(set) var failures: [VariantFailure] = []
  /// Nil where it was left to run to its end.
  public internal(set) var stop: StopMeasurement?
  public internal(set) var samples: [Sample] = []

  /// Whether it was ended for want of memory before anything came of it: the limit does not even hold the program.
  public var hasNoRoomAtAll: Bool {
    thumbnails == 0 && failed == 0 && (ending == .killedForMemory || ending == .outOfAddressSpace)
  }

  init(_ variant: Variant) { self.variant = variant }
}
