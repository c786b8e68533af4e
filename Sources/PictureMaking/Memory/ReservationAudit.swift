import BoundedQueue
import Locking
import MemoryPressure

/// Compares the memory that the process holds with the reservations of the operations, to check the estimates.
///
/// It measures the whole process. Idle makers and free blocks of the allocator therefore count against the estimates.
/// It ignores moments with small reservations, because these are most of the memory then.
package final class ReservationAudit: Sendable {
  /// The fewest reserved bytes that are worth comparing.
  private static let leastReserved = 32 << 20

  private let queue: BoundedOperationQueue
  private let memory: MemoryPlan
  /// Guards the reader and the largest ratio.
  private let state: Locked<State>

  private struct State {
    let open: @Sendable () -> UsageReader
    /// Opened at the first measurement, which short jobs do not reach.
    lazy var usage = open()
    var worst: Double?
  }

  package init(_ queue: BoundedOperationQueue, _ memory: MemoryPlan, in surroundings: Surroundings) {
    self.queue = queue
    self.memory = memory
    state = Locked(State { UsageReader(limit: memory.limit, surroundings: surroundings) })
  }

  /// Bytes held above the baseline for each reserved byte, at the worst moment; nil if there was no moment to compare.
  package var worstRatio: Double? { state.withLock { $0.worst } }

  package func measure() {
    state.withLock { state in
      let before = queue.counters.reserved
      guard let held = state.usage.own()?.resident else { return }
      // Reservations may have changed during the measurement. The larger value is the safe one.
      let reserved = max(before, queue.counters.reserved)
      guard reserved >= Self.leastReserved else { return }
      state.worst = max(state.worst ?? 0, Double(held - memory.baseline) / Double(reserved))
    }
  }
}
