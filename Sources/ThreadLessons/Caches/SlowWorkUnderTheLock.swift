import Locking

/// A thread holds a lock for longer than it must.
enum SlowWorkUnderTheLock: Lesson {
  static let name = "slow-work-under-the-lock"
  static let claim = "Slow work belongs outside the lock: under it, every other thread waits for all of it."
  static let today = "True; the queue of this project decides under its lock and acts after it (`Account`, `carryOut`)."
  static let file = #fileID

  static func wrong() -> Outcome {
    read(.doubtful) { cache, decode in cache.lock.write { $0["b"] = decode() } }
  }

  static func right() -> Outcome {
    read(.certain) { cache, decode in
      let picture = decode()
      cache.lock.write { $0["b"] = picture }
    }
  }

  /// Whether a cached picture can be read while another one is decoded.
  private static func read(
    _ patience: Patience, store: (Guarded<Locked<[String: Int]>>, _ decode: () -> Int) -> Void
  ) -> Outcome {
    let cache = Guarded(Locked(["a": 1]))
    let (decodes, hasRead) = (Gate(), Gate())
    let reader = Player("reader") {
      decodes.wait()
      if cache.lock.read({ $0["a"] }) == 1 { hasRead.open() }
    }
    var wasRead = false
    store(cache) {
      decodes.open()
      wasRead = hasRead.wait(patience)
      return 2
    }
    reader.end.wait()
    return Outcome(isFaulty: !wasRead, "a reader \(wasRead ? "reads" : "waits") while a picture is decoded")
  }
}
