/// One of the ways to do the same work.
public enum Variant: String, Codable, Sendable, CaseIterable {
  case bounded
  case gcdFile = "gcd-file"
  case gcdPixels = "gcd-pixels"
  case gcdPixelsSerial = "gcd-pixels-serial"
  case gcdPath = "gcd-path"
  case gcdSemaphore = "gcd-semaphore"
  case operationQueue = "operation-queue"
  case taskGroup = "task-group"
  case taskGroupWindow = "task-group-window"
  case serial

  /// The queue, naive GCD and a loop: what is compared if the user does not choose.
  public static let usual: [Variant] = [.bounded, .gcdFile, .serial]

  /// What it is, for people who know the others by these words.
  public var title: String {
    switch self {
    case .bounded: "thumbjob as it is: the walk waits while the backlog is full, and an operation reserves its memory"
    case .gcdFile: "a global queue of Dispatch, whose blocks capture the file that was read"
    case .gcdPixels: "a global queue of Dispatch, whose blocks capture the rendered pictures"
    case .gcdPixelsSerial: "one serial queue of Dispatch, whose blocks capture the rendered pictures"
    case .gcdPath: "a global queue of Dispatch, whose blocks capture the path and do everything"
    case .gcdSemaphore: "gcd-pixels, with a semaphore at which the producer waits for a free place"
    case .operationQueue: "an OperationQueue with maxConcurrentOperationCount, which captures the rendered pictures"
    case .taskGroup: "a task group with a child task for each path"
    case .taskGroupWindow: "a task group that adds a task after another one has ended"
    case .serial: "a loop that makes one thumbnail after the other"
    }
  }

  /// The source file that it is compiled from, with its name. Some share one.
  var code: (file: String, text: String) {
    let (file, bytes) =
      switch self {
      case .bounded: ("Jobs/Engine/Engine+Intake.swift", PackageResources.EngineIntake_txt)
      case .gcdFile, .gcdPixels: ("QueueBaselines/Baselines/GlobalQueue.swift", PackageResources.GlobalQueue_txt)
      case .gcdPixelsSerial: ("QueueBaselines/Baselines/OneSerialQueue.swift", PackageResources.OneSerialQueue_txt)
      case .gcdPath: ("QueueBaselines/Baselines/GlobalQueueOfItems.swift", PackageResources.GlobalQueueOfItems_txt)
      case .gcdSemaphore: ("QueueBaselines/Baselines/SemaphoreQueue.swift", PackageResources.SemaphoreQueue_txt)
      case .operationQueue:
        ("QueueBaselines/Baselines/PlainOperationQueue.swift", PackageResources.PlainOperationQueue_txt)
      case .taskGroup: ("QueueBaselines/Baselines/TaskGroupOfItems.swift", PackageResources.TaskGroupOfItems_txt)
      case .taskGroupWindow:
        ("QueueBaselines/Baselines/WindowedTaskGroup.swift", PackageResources.WindowedTaskGroup_txt)
      case .serial: ("QueueBaselines/Baselines/SerialLoop.swift", PackageResources.SerialLoop_txt)
      }
    return ("Sources/\(file)", String(decoding: bytes, as: UTF8.self))
  }
}

/// What a variant is built to guarantee, as its process reports it. The report shows beside it what the run said to it.
public struct VariantTraits: Codable, Sendable, Equatable {
  /// What is kept of a source while it waits.
  public enum Held: String, Codable, Sendable {
    /// Nothing waits.
    case nothing
    case path
    /// The bytes of its file, or its rendered pictures.
    case payload
  }

  /// The most sources that wait at once; nil without a bound.
  public let waitingBound: Int?
  public let held: Held
  /// The memory that its operations may hold together; nil without a budget.
  public let budgetBytes: Int?
  /// The memory that one operation may hold that runs alone, where that is more than the budget; nil without a budget.
  public let largestBytes: Int?
  /// Whether its list says for each operation why it waits.
  public let tellsWhy: Bool

  public init(
    waitingBound: Int?, held: Held, budgetBytes: Int? = nil, largestBytes: Int? = nil, tellsWhy: Bool = false
  ) {
    (self.waitingBound, self.held, self.tellsWhy) = (waitingBound, held, tellsWhy)
    (self.budgetBytes, self.largestBytes) = (budgetBytes, largestBytes)
  }
}

/// Why a variant runs.
public enum RunPurpose: Sendable, Hashable {
  /// A round, to the end; its number counts from 1.
  case round(Int)
  /// To the end, with thumbnails of another size.
  case size(String)
  /// To be asked to list its operations, and told to stop before it is done.
  case stop
}
