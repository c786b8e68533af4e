import BoundedQueue
import MemoryPressure
import Thumbnails

/// How much memory a job gives to its operations, and of what.
public struct MemoryPlan: Sendable, Equatable {
  public let budget: MemoryBudget
  /// What the process may use at all, and what says so.
  public let limit: MemoryLimit
  /// What the process held before the job began, in bytes.
  public let baseline: Int

  /// By default operations together get half of what is free: what a process holds can be twice what it has asked for,
  /// because of what the allocator keeps. No more than the ceiling is of use, and with less than the floor little is left
  /// to run at once.
  private static let ceiling = 1 << 30
  private static let floor = 8 << 20
  /// One that is alone may fill the limit up to this share.
  private static let shareOfOne = 0.85
  /// What a run holds beside the baseline and what is reserved: threads, idle makers, what the allocator keeps. Bytes.
  private static let overhead = 24 << 20

  /// - Parameters:
  ///   - size: what was said; nil for the default.
  ///   - limit: what the process may use.
  ///   - usage: what is held of that now, by the process and by others under the same limit.
  init(_ size: MemorySize?, limit: MemoryLimit, usage: MemoryUsage) {
    self.limit = limit
    baseline = usage.resident
    switch size {
    case .bytes(let bytes): budget = MemoryBudget(bytes: bytes)
    case .percent(let share): budget = MemoryBudget(bytes: max(1 << 20, Int(Double(limit.bytes) * share / 100)))
    case nil:
      let held = max(usage.resident, usage.group ?? 0)
      // Room for what the system does on the process's behalf within the same limit.
      let reserve = min(max(limit.bytes / 20, 64 << 20), 512 << 20)
      let shared = min(max((limit.bytes - reserve - held) / 2, Self.floor), Self.ceiling)
      let alone = Int(Double(limit.bytes) * Self.shareOfOne) - held
      budget = MemoryBudget(bytes: shared, largest: max(shared, alone))
    }
  }

  /// What an operation reserves: what making its thumbnails takes, and what the maker it borrows keeps; but not that where
  /// it would be the reason to refuse it.
  ///
  /// - Parameter needed: bytes.
  func reservation(for needed: Int) -> Int {
    needed < budget.largest ? min(needed + ThumbnailMaker.bytesKept, budget.largest) : needed
  }

  /// The rules by which memory counts as tight, so that what the plan itself takes does not: only what goes beyond is
  /// somebody else's, or a mistake.
  func rules(_ rules: PressureRules = PressureRules()) -> PressureRules {
    let planned = Double(min(baseline + budget.largest + Self.overhead, limit.bytes)) / Double(limit.bytes)
    var rules = rules
    rules.warningShare = max(rules.warningShare, min(planned, 0.92))
    rules.criticalShare = max(rules.criticalShare, min(planned + 0.05, 0.96))
    return rules
  }

  /// What the limit leaves to operations at all, in bytes.
  public var available: Int { limit.bytes - baseline }

  /// The option that allows one operation so many bytes; nil where the limit does not.
  public func option(allowing bytes: Int) -> String? {
    bytes > available ? nil : "--memory \((bytes + (1 << 20) - 1) >> 20)M"
  }

  /// Why an operation cannot have what it needs, and the way out.
  func refusal(_ error: BudgetExceededError) -> String {
    let wayOut =
      option(allowing: error.needed).map { "\($0) would allow it" }
      ?? "that is more than the process may use at all, \(limit)"
    return "\(error); \(wayOut)"
  }
}
