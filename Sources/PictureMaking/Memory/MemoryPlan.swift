import BoundedQueue
import JobSettings
import MemoryPressure
import Thumbnails

/// The memory that a job gives to its operations, and the limit of the process.
package struct MemoryPlan: Sendable, Equatable {
  package let budget: MemoryBudget
  /// The limit of the process.
  package let limit: MemoryLimit
  /// The bytes that the process held before the job began.
  package let baseline: Int

  /// The bounds of the default budget, in bytes. A budget above the ceiling makes nothing faster; one below the floor
  /// hardly has room for two operations.
  private static let ceiling = 1 << 30
  private static let floor = 8 << 20
  /// The share of the limit that the process may fill while one operation has the only reservation.
  private static let shareOfOne = 0.85
  /// The bytes that a job holds beyond the baseline and its reservations: threads, idle makers, free blocks of the
  /// allocator.
  private static let overhead = 24 << 20

  /// - Parameters:
  ///   - size: the budget, from the settings. Nil means half of (limit − memory in use − reserve), from 8 MiB to 1 GiB.
  ///     It is only half, because free blocks of the allocator can double the memory of a process. The reserve is 5 %
  ///     of the limit, from 64 to 512 MiB; it is for memory that the kernel uses for the process under the same limit.
  ///   - usage: the memory in use, by the process and by others under the same limit.
  package init(_ size: MemorySize?, limit: MemoryLimit, usage: MemoryUsage) {
    self.limit = limit
    baseline = usage.resident
    if let size {
      budget = MemoryBudget(bytes: size.bytes(of: limit.bytes))
    } else {
      let held = max(usage.resident, usage.group ?? 0)
      let reserve = min(max(limit.bytes / 20, 64 << 20), 512 << 20)
      let shared = min(max((limit.bytes - reserve - held) / 2, Self.floor), Self.ceiling)
      let alone = Int(Double(limit.bytes) * Self.shareOfOne) - held
      budget = MemoryBudget(bytes: shared, largest: max(shared, alone))
    }
  }

  /// Another budget. An operation that has the only reservation may still reserve as much as in this plan.
  package func budget(of bytes: Int) -> MemoryBudget { MemoryBudget(bytes: bytes, largest: max(bytes, budget.largest)) }

  /// The bytes that an operation reserves: those that its thumbnails need, plus those that its maker keeps afterwards.
  /// The latter are cut where the sum would exceed the largest reservation, so that they alone never refuse a source.
  package func reservation(for needed: Int) -> Int {
    needed < budget.largest ? min(needed + ThumbnailMaker.bytesKept, budget.largest) : needed
  }

  /// Raises the thresholds of `rules` where the planned memory itself would reach them. Only memory beyond the plan
  /// counts as pressure: another process holds it, or an estimate is wrong.
  package func rules(_ rules: PressureRules = PressureRules()) -> PressureRules {
    let planned = Double(min(baseline + budget.largest + Self.overhead, limit.bytes)) / Double(limit.bytes)
    var rules = rules
    rules.warningShare = max(rules.warningShare, min(planned, 0.92))
    rules.criticalShare = max(rules.criticalShare, min(planned + 0.05, 0.96))
    return rules
  }

  /// The bytes that the limit leaves to all operations.
  package var available: Int { limit.bytes - baseline }
}

extension QueueLimits {
  /// Changes the given limits. A limit that is nil stays as it is.
  package mutating func change(max: Int?, backlog: Int?, budget: MemoryBudget?) {
    if let max { maxConcurrentOperations = max }
    if let backlog { self.backlog = backlog }
    if let budget { self.budget = budget }
  }
}
