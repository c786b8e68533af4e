import BoundedQueue
import MemoryPressure
import Thumbnails

/// What a job has done so far, counted source by source.
///
/// Every source found is in exactly one of `made`, `upToDate`, `passedOver`, `notRead`, `duplicates`, `failed`,
/// `cancelled`, or still with the queue or on its way to it.
public struct JobTally: Sendable, Equatable {
  /// Sources the walk has come to.
  public internal(set) var found = 0
  /// Sources whose thumbnails were made.
  public internal(set) var made = 0
  public internal(set) var upToDate = 0
  /// Files that are no images.
  public internal(set) var passedOver = 0
  /// Images of types not read yet.
  public internal(set) var notRead: [ImageType: Int] = [:]
  public internal(set) var duplicates = 0
  public internal(set) var failed = 0
  /// Of those failed: because the disk of the output is full or faulty.
  public internal(set) var diskFaults = 0
  public internal(set) var cancelled = 0
  /// Of those cancelled: one by one, because somebody asked for it.
  public internal(set) var cancelledByUser = 0
  /// Of those failed: for want of memory, and the most that one of them would have needed, in bytes.
  public internal(set) var refusedMemory = 0
  public internal(set) var mostMemoryNeeded = 0
  /// Cancellations by memory pressure after which a source was put back, to be done again.
  public internal(set) var requeued = 0
  /// How often memory got tight, and how often critical.
  public internal(set) var pressureWarnings = 0
  public internal(set) var pressureCriticals = 0
  /// Problems of the walk itself: arguments that lead nowhere, and folders that could not be looked into.
  public internal(set) var missingArguments = 0
  public internal(set) var walkProblems = 0
  /// Thumbnails written, and their size in bytes.
  public internal(set) var thumbnails = 0
  public internal(set) var bytesWritten = 0
  /// Bytes of the sources whose thumbnails were made.
  public internal(set) var bytesRead = 0

  /// Sources that have ended, however they did.
  public var ended: Int {
    made + upToDate + passedOver + notRead.values.reduce(0, +) + duplicates + failed + cancelled
  }

  mutating func count(_ report: SourceReport) {
    thumbnails += report.thumbnails.count
    bytesWritten += report.thumbnails.reduce(0) { $0 + $1.bytes }
    switch report.result {
    case .made:
      made += 1
      bytesRead += report.bytes
    case .passedOver: passedOver += 1
    case .notRead(let type): notRead[type, default: 0] += 1
    case .duplicate: duplicates += 1
    case .failed(let failure):
      failed += 1
      if failure.kind == .disk { diskFaults += 1 }
      if let needed = failure.bytesNeeded {
        refusedMemory += 1
        mostMemoryNeeded = max(mostMemoryNeeded, needed)
      }
    case .cancelled(let reason):
      cancelled += 1
      if reason == .user { cancelledByUser += 1 }
    }
  }

  mutating func count(_ note: PressureNote) {
    guard note.isChange else { return }
    switch note.level {
    case .warning: pressureWarnings += 1
    case .critical: pressureCriticals += 1
    case .normal: break
    }
  }

  mutating func count(_ problem: WalkProblem) {
    if problem.kind == .missingArgument { missingArguments += 1 } else { walkProblems += 1 }
  }
}
