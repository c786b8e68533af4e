import BoundedQueue
import Locking
import MemoryPressure

/// Compares what the process holds with what its operations have reserved: whether the estimates are worth a promise.
///
/// It sees the process as a whole, so what idle makers and the allocator keep counts against the estimates; where little is
/// reserved that would be all it sees, so those moments do not count.
final class ReservationAudit: Sendable {
  /// Less than this reserved says nothing, in bytes.
  private static let telling = 32 << 20

  private let queue: BoundedOperationQueue
  private let memory: MemoryPlan
  /// The largest ratio seen. Guarded by its lock.
  private let worst = Locked<Double?>(nil)

  init(_ queue: BoundedOperationQueue, _ memory: MemoryPlan) {
    self.queue = queue
    self.memory = memory
  }

  /// Bytes held over the baseline for each byte reserved, at the worst moment looked at; nil when no moment told anything.
  var worstRatio: Double? { worst.withLock { $0 } }

  /// Has a look.
  func look() {
    let before = queue.counters.reserved
    let held = MemoryUsage.now(under: memory.limit).resident - memory.baseline
    // What was given back or reserved while the kernel was asked is somewhere in between.
    let reserved = max(before, queue.counters.reserved)
    guard reserved >= Self.telling else { return }
    let ratio = Double(held) / Double(reserved)
    worst.withLock { $0 = max($0 ?? 0, ratio) }
  }
}
