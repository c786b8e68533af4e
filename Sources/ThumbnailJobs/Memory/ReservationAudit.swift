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
  /// The largest ratio seen, and what measures. Guarded by its lock.
  private let state: Locked<State>

  private struct State {
    let usage: UsageReader
    var worst: Double?
  }

  init(_ queue: BoundedOperationQueue, _ memory: MemoryPlan, in surroundings: Surroundings) {
    self.queue = queue
    self.memory = memory
    state = Locked(State(usage: UsageReader(limit: memory.limit, surroundings: surroundings)))
  }

  /// Bytes held over the baseline for each byte reserved, at the worst moment looked at; nil when no moment told anything.
  var worstRatio: Double? { state.withLock { $0.worst } }

  /// Has a look.
  func look() {
    state.withLock { state in
      let before = queue.counters.reserved
      guard let held = state.usage.own()?.resident else { return }
      // What was given back or reserved while the kernel was asked is somewhere in between.
      let reserved = max(before, queue.counters.reserved)
      guard reserved >= Self.telling else { return }
      state.worst = max(state.worst ?? 0, Double(held - memory.baseline) / Double(reserved))
    }
  }
}
