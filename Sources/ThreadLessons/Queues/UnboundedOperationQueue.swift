import BoundedQueue
import Foundation
import Synchronization

/// An operation queue with a limit, and one that is bounded.
enum UnboundedOperationQueue: Lesson {
  static let name = "unbounded-operation-queue"
  static let claim =
    "`maxConcurrentOperationCount` limits what runs, and not what waits: the producer is never stopped, and all "
    + "that waits is held."
  static let today =
    "True of swift-corelibs-foundation: all 1,500 operations, and what they hold, are there when the last is "
    + "submitted."
  static let file = #fileID

  /// A rendered page, in the place of its megabytes.
  private final class Page: Sendable {
    static let held = Atomic(0)

    init() { Self.held.add(1, ordering: .relaxed) }
    deinit { Self.held.subtract(1, ordering: .relaxed) }
  }

  private static let pages = 1500

  static func wrong() -> Outcome {
    let (queue, disk) = (OperationQueue(), Gate())
    queue.maxConcurrentOperationCount = 2
    for _ in 0..<pages {
      let page = Page()
      queue.addOperation { withExtendedLifetime(page) { _ = disk.wait() } }
    }
    let held = Page.held.load(ordering: .relaxed)
    disk.open()
    queue.waitUntilAllOperationsAreFinished()
    return outcome(held, pages)
  }

  static func right() -> Outcome {
    let (queue, disk) = (BoundedOperationQueue(name: "pages", maxConcurrentOperations: 2, backlog: 8), Gate())
    // The page is made first, so that one more than the queue takes is held. `submit` would make the producer wait here.
    var submitted = 0
    while submitted < pages,
      (try? queue.trySubmit(
        ResultOperation(title: "page") { [page = Page()] in
          withExtendedLifetime(page) { _ = disk.wait() }
        })) == true
    { submitted += 1 }
    let held = Page.held.load(ordering: .relaxed)
    disk.open()
    queue.drainBlocking()
    return outcome(held, submitted, ", and waits")
  }

  private static func outcome(_ held: Int, _ submitted: Int, _ then: String = "") -> Outcome {
    Outcome(isFaulty: held > 16, "\(held) pages are held when the producer has submitted \(submitted)\(then)")
  }
}
