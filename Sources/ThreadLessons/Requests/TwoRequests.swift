import BoundedQueue
import Dispatch
import Foundation
import Locking

/// Two requests, and then the next step, in the forms that are right. Dependencies of operations are one of them:
/// docs/two-requests.md.
///
/// In each form the next step gets both answers, or the error of a request. A request that is cancelled fails with
/// `CancellationError`.
public enum TwoRequests {
  public typealias Request = @Sendable () async throws -> String

  /// One after the other. The simplest form of all, and right wherever the second request needs the first answer, or its
  /// time does not matter.
  public static func nested(_ first: Request, _ second: Request) async throws -> [String] {
    let answer = try await first()
    try Task.checkCancellation()
    return [answer, try await second()]
  }

  /// Both at once, as children of the caller's task: cancelled with it. The failure of the first one cancels the second
  /// one; that of the second one is seen when the first one has ended.
  public static func asyncLet(_ first: @escaping Request, _ second: @escaping Request) async throws -> [String] {
    async let one = first()
    async let two = second()
    return try await [one, two]
  }

  /// Any number at once. The first failure cancels all others.
  public static func taskGroup(_ requests: Request...) async throws -> [String] {
    try await withThrowingTaskGroup(of: (Int, String).self) { group in
      for (index, request) in requests.enumerated() { group.addTask { (index, try await request()) } }
      var answers = [String](repeating: "", count: requests.count)
      for try await (index, answer) in group { answers[index] = answer }
      return answers
    }
  }

  /// A request that calls back once, on any thread.
  public struct CallingBack: Sendable {
    public typealias Completion = @Sendable (Result<String, any Error>) -> Void

    let start: @Sendable (@escaping Completion) -> Void
    let cancel: @Sendable () -> Void

    /// - Parameters:
    ///   - start: begins the request, which calls its closure exactly once, also if it is cancelled.
    ///   - cancel: lets it end soon.
    public init(start: @escaping @Sendable (@escaping Completion) -> Void, cancel: @escaping @Sendable () -> Void) {
      (self.start, self.cancel) = (start, cancel)
    }
  }

  /// Requests that call back, with a group: entered before each begins, and left in its closure. The first failure cancels
  /// the others.
  ///
  /// - Parameter completion: called once, on `queue`.
  /// - Returns: cancels all.
  @discardableResult
  public static func group(
    _ requests: [CallingBack], on queue: DispatchQueue,
    completion: @escaping @Sendable (Result<[String], any Error>) -> Void
  ) -> @Sendable () -> Void {
    let (group, state) = (DispatchGroup(), Guarded(Locked(Answers(count: requests.count))))
    let cancelAll: @Sendable () -> Void = { for request in requests { request.cancel() } }
    for (index, request) in requests.enumerated() {
      group.enter()
      request.start { result in
        // Outside of the lock, because `cancel` may call back at once.
        if state.lock.withLock({ $0.isFirstFailure(result, at: index) }) { cancelAll() }
        group.leave()
      }
    }
    group.notify(queue: queue) { completion(state.lock.withLock { $0.result }) }
    return cancelAll
  }

  private struct Answers: Sendable {
    private var all: [String]
    private var failure: (any Error)?

    init(count: Int) { all = Array(repeating: "", count: count) }

    var result: Result<[String], any Error> { failure.map { .failure($0) } ?? .success(all) }

    mutating func isFirstFailure(_ result: Result<String, any Error>, at index: Int) -> Bool {
      switch result {
      case .success(let answer): all[index] = answer
      case .failure(let error) where failure == nil:
        failure = error
        return true
      case .failure: break
      }
      return false
    }
  }
}
