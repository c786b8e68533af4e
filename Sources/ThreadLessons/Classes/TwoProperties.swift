import Locking

/// Two properties that belong together.
enum TwoProperties: Lesson {
  static let name = "two-properties"
  static let claim =
    "Two properties that are set one by one are seen in a combination that never was meant, although each is "
    + "atomic."
  static let today = "True; one `Locked` value with both makes it impossible to set one without the other in between."
  static let file = #fileID

  private struct Size: Sendable { var width = 4, height = 3 }

  static func wrong() -> Outcome {
    let (width, height) = (Guarded(Locked(4)), Guarded(Locked(3)))
    let (isHalfSet, isSeen) = (Gate(), Gate())
    let writer = Player("writer") {
      width.lock.write { $0 = 300 }
      isHalfSet.open()
      isSeen.wait()
      height.lock.write { $0 = 400 }
    }
    isHalfSet.wait()
    let seen = Size(width: width.lock.read { $0 }, height: height.lock.read { $0 })
    isSeen.open()
    writer.end.wait()
    return outcome(seen)
  }

  static func right() -> Outcome {
    let size = Guarded(Locked(Size()))
    let isHalfSet = Gate()
    let writer = Player("writer") {
      size.lock.write { size in
        size.width = 300
        isHalfSet.open()
        size.height = 400
      }
    }
    isHalfSet.wait()
    let seen = size.lock.read { $0 }
    writer.end.wait()
    return outcome(seen)
  }

  private static func outcome(_ size: Size) -> Outcome {
    let isMeant = size.width * 3 == size.height * 4 || size.width * 4 == size.height * 3
    return Outcome(isFaulty: !isMeant, "a reader sees \(size.width) × \(size.height)")
  }
}
