import Locking

/// A task group that adds a task only after another one has ended: `next` in the loop.
///
/// Nothing waits but the producer, so memory is bounded as long as each item takes little. The tasks can be cancelled;
/// they cannot be listed.
public final class WindowedTaskGroup<Item: Sendable, Payload: Sendable>: Baseline {
  private let work: CountedWork<Item, Payload>
  private let limit: Int
  /// The task that owns the group, once it runs.
  private let task = Locked<Task<Void, Never>?>(nil)

  /// - Parameter limit: the most tasks at once. More of them than the pool has threads wait for one.
  public init(_ work: CountedWork<Item, Payload>, limit: Int) { (self.work, self.limit) = (work, limit) }

  public func run(_ items: [Item]) {
    blocking(task) { [work, limit] in
      await withTaskGroup(of: Void.self) { group in
        for (index, item) in work.handOut(items).enumerated() {
          if index >= limit { await group.next() }
          group.addTask { if !Task.isCancelled { work.perform(item) } }
        }
      }
    }
  }

  public func cancel() { task.withLock { $0?.cancel() } }

  public var traits: BaselineTraits { BaselineTraits(waitingBound: limit, held: .item) }
}
