import Locking

/// A cache under a mutex, and under a readers-writer lock.
enum ReadersUnderAMutex: Lesson {
  static let name = "readers-under-a-mutex"
  static let claim =
    "Under one mutex, readers of a cache wait for each other; a readers-writer lock lets them in together."
  static let today =
    "A mutex is right all the same while sections are short: docs/lock-study.md says from when on it is not."
  static let file = #fileID

  static func wrong() -> Outcome {
    let cache = Guarded(Locked(["a": 1]))
    return meeting(of: 2, .doubtful) { body in cache.lock.read { _ in body() } }
  }

  static func right() -> Outcome {
    let cache = Guarded(ReaderPreferringLocked(["a": 1]))
    return meeting(of: 2, .certain) { body in cache.lock.read { _ in body() } }
  }

  /// Whether so many readers are in at once: each stays until all are in.
  private static func meeting(
    of readers: Int, _ patience: Patience, read: @escaping @Sendable (() -> Void) -> Void
  ) -> Outcome {
    let (count, allIn) = (Guarded(Locked((inside: 0, most: 0))), Gate())
    let players = (1...readers).map { number in
      Player("reader \(number)") {
        read {
          let inside = count.lock.write { count in
            count.inside += 1
            count.most = max(count.most, count.inside)
            return count.inside
          }
          if inside == readers { allIn.open() }
          allIn.wait(patience)
          count.lock.write { $0.inside -= 1 }
        }
      }
    }
    for player in players { player.end.wait() }
    let met = count.lock.read { $0.most }
    return Outcome(isFaulty: met < readers, "\(met) of \(readers) readers are in at once")
  }
}
