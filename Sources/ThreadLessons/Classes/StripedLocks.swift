import Locking

/// Locks that unrelated properties share.
enum StripedLocks: Lesson {
  static let name = "striped-locks"
  static let claim =
    "Atomic properties of Objective-C share a small table of locks (128 spinlocks in 2012), chosen by address, "
    + "so that unrelated properties wait for each other."
  static let today =
    "Swift has no such runtime locks; a table of locks of one's own has the same fault."
  static let file = #fileID

  /// 128 locks for all properties.
  private final class Stripes: Sendable {
    private let locks = (0..<128).map { _ in Guarded(Locked(())) }

    func with(address: Int, _ body: () -> Void) { locks[address / 16 % locks.count].lock.write { _ in body() } }
  }

  static func wrong() -> Outcome {
    let stripes = Stripes()
    // Of 129 addresses in a row, two have the same lock.
    return accesses(
      .doubtful, first: { stripes.with(address: 0x1000, $0) }, second: { stripes.with(address: 0x1000 + 128 * 16, $0) })
  }

  static func right() -> Outcome {
    let properties = [Guarded(Locked(())), Guarded(Locked(()))]
    return accesses(
      .certain, first: { body in properties[0].lock.write { _ in body() } },
      second: { body in properties[1].lock.write { _ in body() } })
  }

  /// Whether one property can be set while an unrelated one is being set.
  private static func accesses(
    _ patience: Patience, first: (() -> Void) -> Void, second: @escaping @Sendable (() -> Void) -> Void
  ) -> Outcome {
    let isFree = Meanwhile.isReached(patience, whileIn: first) { isSet in second { isSet.open() } }
    return Outcome(isFaulty: !isFree, "an unrelated property \(isFree ? "is set at once" : "waits")")
  }
}
