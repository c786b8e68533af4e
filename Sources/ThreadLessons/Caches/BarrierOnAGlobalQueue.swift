import Dispatch
import Locking

/// A barrier isolates only on a concurrent queue of one's own.
enum BarrierOnAGlobalQueue: Lesson {
  static let name = "barrier-on-a-global-queue"
  static let claim =
    "A barrier isolates only on a concurrent queue of one's own; on a global queue it is an ordinary block, on a "
    + "serial queue it adds nothing."
  static let today = "True on Linux, too: Dispatch says nothing, and runs the barrier beside other blocks."
  static let file = #fileID

  static func wrong() -> Outcome { meetings(on: .global(), .certain) }

  static func right() -> Outcome { meetings(on: DispatchQueue(label: "own", attributes: .concurrent), .doubtful) }

  /// Whether a barrier runs beside the block before it.
  private static func meetings(on queue: DispatchQueue, _ patience: Patience) -> Outcome {
    let (blockIsIn, barrierIsIn, blockIsOut) = (Gate(), Gate(), Gate())
    let met = Guarded(Locked(false))
    queue.async {
      blockIsIn.open()
      let both = barrierIsIn.wait(patience)
      met.lock.write { $0 = both }
      blockIsOut.open()
    }
    blockIsIn.wait()
    // Without a group: the thread sanitizer would hand on the block of a group without its flags.
    queue.async(flags: .barrier) { barrierIsIn.open() }
    blockIsOut.wait()
    barrierIsIn.wait()
    let isBeside = met.lock.read { $0 }
    return Outcome(isFaulty: isBeside, "the barrier runs \(isBeside ? "beside" : "after") the block before it")
  }
}
