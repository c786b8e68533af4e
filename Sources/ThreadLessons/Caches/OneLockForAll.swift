import Locking

/// One lock guards values that have nothing to do with each other.
enum OneLockForAll: Lesson {
  static let name = "one-lock-for-all"
  static let claim = "One lock around methods that need not exclude each other makes them wait for each other."
  static let today = "True; a lock belongs to values that change together, which `Locked<State>` makes visible."
  static let file = #fileID

  static func wrong() -> Outcome {
    let all = Guarded(Locked((names: ["a"], hits: 0)))
    return count(
      .doubtful, whileSorting: { body in all.lock.write { _ in body() } }, count: { all.lock.write { $0.hits += 1 } })
  }

  static func right() -> Outcome {
    let (names, hits) = (Guarded(Locked(["a"])), Guarded(Locked(0)))
    return count(
      .certain, whileSorting: { body in names.lock.write { _ in body() } }, count: { hits.lock.write { $0 += 1 } })
  }

  /// Whether a hit can be counted while names are sorted.
  private static func count(
    _ patience: Patience, whileSorting sort: (() -> Void) -> Void, count: @escaping @Sendable () -> Void
  ) -> Outcome {
    let isCounted = Meanwhile.isReached(patience, whileIn: sort) { isCounted in
      count()
      isCounted.open()
    }
    return Outcome(isFaulty: !isCounted, "counting \(isCounted ? "goes on" : "waits") while names are sorted")
  }
}
