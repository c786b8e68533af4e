import Locking

/// A task group with a child task for each item: `addTask` in a loop.
///
/// `addTask` never waits, so a task for each item is made at once. What waits holds the item alone, because each task
/// prepares it when it runs, on one of the pool's threads, of which there is one for each processor. The tasks can be
/// cancelled, as each looks before it begins; they cannot be listed.
public final class TaskGroupOfItems<Item: Sendable, Payload: Sendable>: Baseline {
  private let work: CountedWork<Item, Payload>
  /// The task that owns the group, once it runs.
  private let task = Locked<Task<Void, Never>?>(nil)

  public init(_ work: CountedWork<Item, Payload>) { self.work = work }

  public func run(_ items: [Item]) {
    blocking(task) { [work] in
      await withDiscardingTaskGroup { group in
        for item in work.handOut(items) {
          group.addTask { if !Task.isCancelled { work.perform(item) } }
        }
      }
    }
  }

  public func cancel() { task.withLock { $0?.cancel() } }

  public var traits: BaselineTraits { BaselineTraits(waitingBound: nil, held: .item) }
}
