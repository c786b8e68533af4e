#if DEBUG
import Synchronization

/// One lock, as the checks of debug builds know it.
@usableFromInline final class LockRecord: Sendable, CustomStringConvertible {
  /// Unique within the process. Unlike an address, it is not used again.
  let number: UInt64
  private let guardName: StaticString
  private let type: Any.Type
  private let file: StaticString
  private let line: UInt
  /// Whether ``LockOrder`` knows the lock. A lock that was never taken together with another one costs nothing there.
  let isInOrder = Atomic(false)

  private static let lastNumber = Atomic<UInt64>(0)

  @usableFromInline init(_ guardName: StaticString, of type: Any.Type, file: StaticString, line: UInt) {
    number = Self.lastNumber.add(1, ordering: .relaxed).newValue
    (self.guardName, self.type, self.file, self.line) = (guardName, type, file, line)
  }

  deinit {
    if isInOrder.load(ordering: .relaxed) { LockOrder.shared.remove(number) }
  }

  /// Such as "Locked<Account> #12 (BoundedQueue/BoundedOperationQueue.swift:54)". The number tells apart locks that
  /// were made at the same place.
  @usableFromInline var description: String { "\(guardName)<\(type)> #\(number) (\(file):\(line))" }
}

/// The locks that one thread holds, in the order in which it has taken them.
///
/// *Concurrency*: belongs to its thread.
@usableFromInline final class HeldLocks {
  struct Held {
    let lock: LockRecord
    let mode: LockMode
  }

  private(set) var locks: [Held] = []
  /// Orders that ``LockOrder`` knows already, so that this thread need not ask it again. Those of two locks are at a
  /// place of their own, and replace others that had it.
  private var known = [Pair](repeating: Pair(first: 0, second: 0), count: 64)

  private struct Pair: Equatable {
    let first, second: UInt64
  }

  private init() {}

  /// Those of the current thread.
  @usableFromInline static var current: HeldLocks { perThread.object { HeldLocks() } }

  private static let perThread = PerThread<HeldLocks>()

  @usableFromInline func willLock(_ lock: LockRecord) {
    guard !locks.isEmpty else { return }
    guard !locks.contains(where: { $0.lock === lock }) else {
      fatalError("\(ThreadIdentity.current.name) takes \(lock), which it holds already\n\(CallStack())")
    }
    for held in locks {
      let pair = Pair(first: held.lock.number, second: lock.number)
      let place = Int((pair.first &* 31 &+ pair.second) % UInt64(known.count))
      guard known[place] != pair else { continue }
      if let contradiction = LockOrder.shared.add(held.lock, before: lock) { fatalError("\(contradiction)") }
      known[place] = pair
    }
  }

  @usableFromInline func didLock(_ lock: LockRecord, _ mode: LockMode) { locks.append(Held(lock: lock, mode: mode)) }

  @usableFromInline func willUnlock(_ lock: LockRecord) {
    guard let place = locks.lastIndex(where: { $0.lock === lock }) else { return }
    locks.remove(at: place)
  }
}

/// A lock that a thread holds, for the recorder of accesses.
package struct HeldLock: Sendable {
  private let lock: LockRecord
  package let isExclusive: Bool

  /// Those of the current thread, in the order in which it has taken them.
  package static var ofCurrentThread: [HeldLock] {
    HeldLocks.current.locks.map { HeldLock(lock: $0.lock, isExclusive: $0.mode == .exclusive) }
  }

  /// Unique within the process.
  package var number: UInt64 { lock.number }
  package var name: String { lock.description }
}
#endif
