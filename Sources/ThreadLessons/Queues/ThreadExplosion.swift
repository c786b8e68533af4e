import BoundedQueue
import Dispatch
import Locking

/// Each block that waits keeps a thread.
enum ThreadExplosion: Lesson {
  static let name = "thread-explosion"
  static let claim = "Each private serial queue whose block waits takes a thread of its own."
  static let today =
    "Dispatch on Linux starts up to some 255 at once; here all 100. A bounded queue never has more than its "
    + "`max`."
  static let file = #fileID

  private static let blocks = 100

  /// Blocks that are in at once.
  private final class Disk: Sendable {
    private let count = Guarded(Locked((inside: 0, most: 0)))
    private let isReady = Gate()

    /// Writes for as long as the disk is not ready.
    ///
    /// - Parameter enough: opens the gate when so many are in.
    func write(_ enough: Int, _ areIn: Gate) {
      let inside = count.lock.write { count in
        count.inside += 1
        count.most = max(count.most, count.inside)
        return count.inside
      }
      if inside == enough { areIn.open() }
      isReady.wait()
      count.lock.write { $0.inside -= 1 }
    }

    func makeReady() { isReady.open() }

    var outcome: Outcome {
      let most = count.lock.read { $0.most }
      return Outcome(isFaulty: most > 4, "\(blocks) blocks that wait for the disk take \(most) threads")
    }
  }

  static func wrong() -> Outcome {
    let (disk, allAreIn, group) = (Disk(), Gate(), DispatchGroup())
    for number in 0..<blocks {
      DispatchQueue(label: "queue \(number)").async(group: group) { disk.write(blocks, allAreIn) }
    }
    allAreIn.wait()
    disk.makeReady()
    group.wait()
    return disk.outcome
  }

  static func right() -> Outcome {
    let (disk, areIn) = (Disk(), Gate())
    let queue = BoundedOperationQueue(name: "disk", maxConcurrentOperations: 4, backlog: blocks)
    for number in 0..<blocks {
      try? queue.submitBlocking(ResultOperation(title: "write \(number)") { disk.write(4, areIn) })
    }
    areIn.wait()
    disk.makeReady()
    queue.drainBlocking()
    return disk.outcome
  }
}
