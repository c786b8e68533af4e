import Dispatch
import Locking
import Synchronization

/// Three ways to wait for two requests before the next step that are often written, and wrong. Each shows its fault every
/// time, because the caller decides in which order things happen; in a program they happen by chance, and mostly go well.
///
/// The right way is an operation that depends on both (docs/two-requests.md).
public enum WrongJoins {
  /// A request: it returns at once, and calls its closure with the answer later, on any thread.
  public typealias Request<Answer> = @Sendable (_ completion: @escaping @Sendable (Answer) -> Void) -> Void

  /// Leaves a group when the requests have *returned*, and not when they have been answered. The next step then begins
  /// without the answers.
  ///
  /// - Parameter next: the next step, with the answers that have arrived.
  public static func leavingAGroupEarly<Answer: Sendable>(
    _ first: @escaping Request<Answer>, _ second: @escaping Request<Answer>, next: ([Answer]) -> Void
  ) {
    let group = DispatchGroup()
    let answers = SharedAnswers<Answer>()
    for request in [first, second] {
      group.enter()
      request { answer in answers.all.withLock { $0.append(answer) } }
      group.leave()  // too early: it belongs in the closure
    }
    group.wait()
    next(answers.all.withLock { $0 })
  }

  private final class SharedAnswers<Answer: Sendable>: Sendable {
    let all = Locked<[Answer]>([])
  }

  /// Waits at a semaphore on a thread of the pool that the requests need. If it is the pool's last one, no request is ever
  /// answered, and the wait never ends.
  ///
  /// - Parameters:
  ///   - pool: a queue with one thread.
  ///   - patience: when to give up, so that a test of it can end.
  ///   - next: whether the requests have been answered.
  public static func waitingOnTheLastThreadOfAPool(
    _ pool: DispatchQueue, patience: DispatchTimeInterval, next: @escaping @Sendable (_ wereAnswered: Bool) -> Void
  ) {
    pool.async {
      let answered = DispatchSemaphore(value: 0)
      for _ in 0..<2 { pool.async { answered.signal() } }  // their thread is the one that waits below
      let deadline = DispatchTime.now() + patience
      let results = (0..<2).map { _ in answered.wait(timeout: deadline) }
      next(results.allSatisfy { $0 == .success })
    }
  }

  /// Counts the answers in a variable that both completions change without a lock: each reads it, adds one, and writes
  /// it. If both read before one writes, an answer is lost, and the next step never begins.
  ///
  /// The variable is atomic, so that this program is defined; reading and writing it in two steps is the fault all the
  /// same.
  public final class SharingACountWithoutALock: Sendable {
    private let count = Atomic(0)
    private let next: @Sendable () -> Void

    /// - Parameter next: the next step.
    public init(next: @escaping @Sendable () -> Void) { self.next = next }

    /// One request is answered.
    ///
    /// - Parameter between: called between reading and writing, where another thread may come in.
    public func answered(between: () -> Void = {}) {
      let before = count.load(ordering: .relaxed)
      between()
      count.store(before + 1, ordering: .relaxed)
      if before + 1 == 2 { next() }
    }
  }
}
