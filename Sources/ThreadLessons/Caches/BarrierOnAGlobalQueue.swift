import Dispatch
import Locking

/// A barrier isolates only on a concurrent queue of one's own.
enum BarrierOnAGlobalQueue: Lesson {
  static let name = "barrier-on-a-global-queue"
  static let claim =
    "A barrier isolates only on a concurrent queue of one's own; on a global queue it is an ordinary block, on a "
    + "serial queue it adds nothing."
  static let today = "True on Linux, too: Dispatch says nothing, and runs the barrier beside other blocks."
  static let file = #filePath

  static func wrong() -> Outcome { meetings(on: .global(), .certain) }

  static func right() -> Outcome { meetings(on: DispatchQueue(label: "own", attributes: .concurrent), .doubtful) }

  /// Whether a barrier runs beside the block before it.
  private static func meetings(on queue: DispatchQueue, _ patience: Patience) -> Outcome {
    let (blockIsIn, barrierIsIn, group) = (Gate(), Gate(), DispatchGroup())
    let met = Locked(false)
    queue.async(group: group) {
      blockIsIn.open()
      let both = barrierIsIn.wait(patience)
      met.withLock { $0 = both }
    }
    blockIsIn.wait()
    queue.async(group: group, flags: .barrier) { barrierIsIn.open() }
    group.wait()
    let isBeside = met.withLock { $0 }
    return Outcome(isFaulty: isBeside, "the barrier runs \(isBeside ? "beside" : "after") the block before it")
  }
}
