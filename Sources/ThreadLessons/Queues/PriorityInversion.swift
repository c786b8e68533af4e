import Dispatch
import Foundation
import Locking

/// Work of a low quality of service holds a lock for which the user waits.
enum PriorityInversion: Lesson {
  static let name = "priority-inversion"
  static let claim = "Background work that holds a lock stays background work while the user waits for that lock."
  static let today =
    "On Linux, Dispatch gives threads of `.background` nice 10, which disks may follow (ioprio_set(2)); nothing "
    + "raises them while others wait."
  static let file = #fileID

  static func wrong() -> Outcome { holder(.background) }

  static func right() -> Outcome { holder(.default) }

  /// The nice value of a thread that holds a lock for which a thread of the user waits.
  private static func holder(_ quality: DispatchQoS.QoSClass) -> Outcome {
    let (shared, nice) = (Guarded(Locked(0)), Guarded(Locked(0)))
    let (isHeld, mayEnd, group) = (Gate(), Gate(), DispatchGroup())
    DispatchQueue.global(qos: quality).async(group: group) {
      shared.lock.write { _ in
        isHeld.open()
        mayEnd.wait(.doubtful)  // meanwhile the user waits
        nice.lock.write { $0 = niceness }
      }
    }
    isHeld.wait()
    let user = Player("user") {
      shared.lock.write { $0 += 1 }
      mayEnd.open()
    }
    user.end.wait()
    group.wait()
    let held = nice.lock.read { $0 }
    return Outcome(
      isFaulty: held > niceness, "the lock is held with nice \(held) while the user waits with \(niceness)")
  }

  #if canImport(Glibc)
  private static let thread = Int32(PRIO_PROCESS.rawValue)
  #else
  private static let thread = Int32(PRIO_PROCESS)
  #endif

  /// That of the current thread, on Linux.
  static var niceness: Int { Int(getpriority(thread, 0)) }
}
