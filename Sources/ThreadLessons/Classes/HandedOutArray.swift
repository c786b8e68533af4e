import Foundation
import Locking

/// A class hands out its array.
enum HandedOutArray: Lesson {
  static let name = "handed-out-array"
  static let claim = "Who hands out its mutable array lets others see later changes, or make them, without the lock."
  static let today =
    "A Swift array is a value, so that a copy is handed out by itself; classes such as NSMutableArray are not."
  static let file = #fileID

  static func wrong() -> Outcome {
    let photos = NSMutableArray(array: ["a"])
    let handedOut: NSArray = photos
    photos.add("b")
    return Outcome(isFaulty: handedOut.count != 1, "the list of 1 photo that was handed out has \(handedOut.count) now")
  }

  static func right() -> Outcome {
    let photos = Guarded(Locked(["a"]))
    let handedOut = photos.lock.read { $0 }
    photos.lock.write { $0.append("b") }
    return Outcome(isFaulty: handedOut.count != 1, "the list of 1 photo that was handed out has \(handedOut.count) now")
  }
}
