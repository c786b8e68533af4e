import BoundedQueue
import Files
import JobSettings
import Locking
import PictureMaking
import Places
import Sourcing
import Thumbnails

/// Has the files of slow disks read before their operations, by as many readers as such a disk can bear.
///
/// If each operation reads its own file, the head of a spinning disk goes back and forth between the files. One
/// ``ReadOperation`` at a time reads all that is needed of one file, and the engine starts the sources in the order of their
/// places. So the head moves little. Over a network each request takes its time, and several readers wait at once; there the
/// order stays, because the server knows the places. It also stays in a watch, and where results are joined by name.
///
/// The backlog bounds how many files are read ahead, and each of them may have an equal share of a quarter of the memory budget.
///
/// *Concurrency*: from any thread.
final class DiskReading: JobCapability {
  private struct Disk {
    let readers: Int
    /// Whether its sources are started in the order of their places.
    let isInOrder: Bool
    /// Whether its file system tells where files begin. If it does not, the inode numbers stand for the places: most file
    /// systems number files in the order in which they were written.
    var tellsPlaces = true
  }

  /// Runs the reads.
  private let queue: BoundedOperationQueue
  private let choice: Readers
  private let keepsOrder: Bool
  /// Of all outputs; empty if the results need whole files.
  private let options: [ThumbnailOptions]
  private let budget: Int
  private let counters = Locked(ReadCounters())
  /// The disks of the sources, by their devices.
  private let disks = Locked<[UInt64: Disk]>([:])
  /// Ends reads that take too long.
  private let watchdog: Watchdog

  /// Files that were read and not yet used may take one part in so many of the budget.
  private static let share = 4
  /// The most disks that are remembered.
  private static let mostDisks = 100
  /// The smallest share of a file, in bytes.
  private static let least = 1 << 20

  convenience init?(_ parts: JobParts) {
    guard !parts.isRead, parts.settings.readers != .fixed(0) else { return nil }
    self.init(
      parts.settings.readers, options: parts.outputs.map(\.options),
      // While a photo is held back, a watch may find it again.
      keepsOrder: parts.kind.isSorted || parts.settings.watch != nil,
      budget: parts.memory.budget.bytes, limits: parts.queue.limits, timeout: parts.settings.timeout)
  }

  /// - Parameters:
  ///   - options: of all outputs; empty if the results need whole files.
  ///   - keepsOrder: whether sources are started in the order in which they are found.
  ///   - budget: of the job, in bytes.
  ///   - limits: of the queue of the job.
  ///   - timeout: how long a read may take.
  init(
    _ choice: Readers, options: [ThumbnailOptions], keepsOrder: Bool, budget: Int, limits: QueueLimits,
    timeout: Duration
  ) {
    (self.choice, self.options, self.keepsOrder, self.budget) = (choice, options, keepsOrder, budget)
    queue = BoundedOperationQueue(
      name: "reads", maxConcurrentOperations: choice.most, backlog: Self.backlog(limits))
    watchdog = Watchdog(queue: queue, timeout: timeout, total: nil) {}
  }

  var queues: [BoundedOperationQueue] { [queue] }

  func admit(_ candidate: inout Candidate, in engine: Engine) {
    guard let status = candidate.status, candidate.source.isLocal else { return }
    switch candidate.verdict {
    case .make, nil: break
    default: return
    }
    let path = candidate.source.path
    let device = UInt64(status.st_dev)
    let found = disk(of: path, device)
    guard found.readers > 0 else { return }
    var task = SourceTask(source: candidate.source, place: candidate.place, work: .make)
    task.makeSupply = { [self] task in read(task.source) }
    candidate.verdict = .start(task)
    guard found.isInOrder else { return }
    candidate.startNumber = place(of: path, found, device) ?? UInt64(status.st_ino)
  }

  /// Where a file begins on its disk; nil if its file system does not tell. A file without a place counts as the first one.
  private func place(of path: Path, _ found: Disk, _ device: UInt64) -> UInt64? {
    guard found.tellsPlaces else { return nil }
    switch DiskPlace(of: path) {
    case .byte(let byte): return byte
    case .none: return 0
    case .unknown:
      disks.withLock { $0[device]?.tellsPlaces = false }
      return nil
    }
  }

  private func disk(of path: Path, _ device: UInt64) -> Disk {
    if let known = disks.withLock({ $0[device] }) { return known }
    let kind = DiskKind(at: path, device: device)
    let readers = choice.count(for: kind)
    let found = Disk(readers: readers, isInOrder: !keepsOrder && (kind != .network || choice != .auto))
    // Photos of several disks may wait at once. So the disk that bears the fewest readers decides, until the job ends.
    if readers > 0 { queue.changeLimits { $0.maxConcurrentOperations = min($0.maxConcurrentOperations, readers) } }
    disks.withLock { disks in
      if disks.count == Self.mostDisks { disks.removeAll() }
      disks[device] = found
    }
    return found
  }

  private func read(_ source: Source) -> ReadOperation {
    watchdog.begin()
    return ReadOperation(
      source, options, most: max(Self.least, budget / Self.share / queue.limits.backlog), on: queue,
      count: { [self] bytes in counters.withLock { $0.count(bytes) } })
  }

  func limitsChanged(_ limits: QueueLimits) { queue.changeLimits { $0.backlog = Self.backlog(limits) } }

  /// As many files as sources that run, wait, and wait for room in the queue of the job.
  private static func backlog(_ limits: QueueLimits) -> Int { limits.backlog + limits.maxConcurrentOperations + 1 }

  func stopping(_ cause: StopCause) { queue.stop(reason: cause.reason, sparingRunning: false) }

  func finish(_ engine: Engine, _ walk: SourceWalk?) {
    queue.stop(reason: .shutdown, sparingRunning: false)
    watchdog.end()
  }

  func tell(_ status: inout JobStatus, waitingLimit: Int) {
    guard queue.counters.submitted > 0 else { return }
    status.reads = queue.snapshot(waitingLimit: waitingLimit)
  }

  func tell(_ report: inout JobReport) {
    var counters = counters.withLock { $0 }
    guard counters.files > 0 else { return }
    counters.readers = queue.counters.peakRunning
    report.reads = counters
  }
}

extension Readers {
  /// How many files of a disk of this kind are read at once.
  func count(for kind: DiskKind) -> Int {
    switch (self, kind) {
    case (.fixed(let count), _): count
    case (.auto, .spinning): 1
    case (.auto, .network): most
    case (.auto, .other): 0
    }
  }
}
