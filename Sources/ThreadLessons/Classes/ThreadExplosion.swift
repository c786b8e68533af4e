import BoundedQueue
import Dispatch
import Locking

/// How many threads work takes that waits.
enum ThreadExplosion: Lesson {
  static let name = "thread-explosion"
  static let claim = "Each private serial queue whose block waits takes a thread of its own."
  static let today =
    "Dispatch on Linux starts up to some 255 at once; here all 100. A bounded queue never has more than its "
    + "`max`."
  static let file = #filePath

  private static let blocks = 100

  static func wrong() -> Outcome {
    let (disk, allIn, count, group) = (Gate(), Gate(), Guarded(Locked(0)), DispatchGroup())
    for number in 0..<blocks {
      DispatchQueue(label: "queue \(number)").async(group: group) {
        if count.lock.write({
          $0 += 1
          return $0
        }) == blocks {
          allIn.open()
        }
        disk.wait()
      }
    }
    allIn.wait()
    return outcome(count, opening: disk) { group.wait() }
  }

  static func right() -> Outcome {
    let (disk, allIn, count) = (Gate(), Gate(), Guarded(Locked(0)))
    let queue = BoundedOperationQueue(name: "disk", max: 4, backlog: blocks)
    for number in 0..<blocks {
      try? queue.submit(
        ResultOperation(title: "write \(number)") {
          if count.lock.write({
            $0 += 1
            return $0
          }) == 4 {
            allIn.open()
          }
          disk.wait()
        })
    }
    allIn.wait()
    return outcome(count, opening: disk) { queue.drain() }
  }

  private static func outcome(_ count: Guarded<Locked<Int>>, opening gate: Gate, drain: () -> Void) -> Outcome {
    let threads = count.lock.read { $0 }
    gate.open()
    drain()
    return Outcome(isFaulty: threads > 4, "\(blocks) blocks that wait for the disk take \(threads) threads")
  }
}
